// Rung 5: double buffering: the next tiles are loaded while the current ones are used.
//
// On the earlier rungs a block waits for global memory before each tile. Here a thread
// first issues the loads of its part of the next tiles, computes with the current ones
// while the loads are in flight, and then stores the loaded numbers to the other buffer.
// One barrier per tile is enough, because no thread writes to the buffer that others read.
// The multiply-adds run back and forth, so that each shares an operand with the one
// before, which the GPU need not fetch from its registers again.
//
// Run it:  cargo run -p matmul-tiled -- --variant double-buffer

#include "matrix.h"

constexpr int TILE = 128;                      // rows and columns of a block's tile of C
constexpr int DEPTH = 8;                       // columns of a tile of A, rows of one of B
constexpr int SIDE = 8;                        // rows and columns of a thread's elements
constexpr int WARP_ROWS = 64, WARP_COLS = 32;  // of a warp's tile
constexpr int LANE_COLS = WARP_COLS / SIDE;    // threads along it; 8 down
constexpr int THREADS = TILE * TILE / SIDE / SIDE;

extern "C" __global__ void __launch_bounds__(THREADS)
    mat_mul_double_buffer(const Matrix A, const Matrix B, Matrix C) {
    __shared__ __align__(16) float As[2][DEPTH][TILE];
    __shared__ __align__(16) float Bs[2][DEPTH][TILE];
    const size_t upper = (size_t)blockIdx.y * TILE, left = (size_t)blockIdx.x * TILE;
    const int a_row = threadIdx.x / (DEPTH / 4), a_col = threadIdx.x % (DEPTH / 4) * 4;
    const int b_row = threadIdx.x / (TILE / 4), b_col = threadIdx.x % (TILE / 4) * 4;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / (TILE / WARP_COLS) * WARP_ROWS + lane / LANE_COLS * 4;
    const int col = warp % (TILE / WARP_COLS) * WARP_COLS + lane % LANE_COLS * 4;

    float4 next_a = get_four(A, upper + a_row, a_col);
    float4 next_b = get_four(B, b_row, left + b_col);
    float results[SIDE][SIDE] = {};
    int buffer = 0;
    // ANCHOR: next
    for (size_t i = 0; i < B.rows; i += DEPTH) {
        As[buffer][a_col][a_row] = next_a.x;
        As[buffer][a_col + 1][a_row] = next_a.y;
        As[buffer][a_col + 2][a_row] = next_a.z;
        As[buffer][a_col + 3][a_row] = next_a.w;
        *(float4 *)&Bs[buffer][b_row][b_col] = next_b;
        __syncthreads();
        next_a = get_four(A, upper + a_row, i + DEPTH + a_col);
        next_b = get_four(B, i + DEPTH + b_row, left + b_col);
        // ANCHOR_END: next
#pragma unroll
        for (int j = 0; j < DEPTH; j++) {
            float a[SIDE], b[SIDE];
            take_four(&a[0], &As[buffer][j][row]);
            take_four(&a[4], &As[buffer][j][row + WARP_ROWS / 2]);
            take_four(&b[0], &Bs[buffer][j][col]);
            take_four(&b[4], &Bs[buffer][j][col + WARP_COLS / 2]);
#pragma unroll
            for (int c = 0; c < SIDE; c++) {
#pragma unroll
                for (int n = 0; n < SIDE; n++) {
                    const int r = c % 2 ? SIDE - 1 - n : n;
                    results[r][c] = fmaf(a[r], b[c], results[r][c]);
                }
            }
        }
        buffer = 1 - buffer;
    }

#pragma unroll
    for (int r = 0; r < SIDE; r++) {
        const size_t down = upper + row + r / 4 * (WARP_ROWS / 2) + r % 4;
#pragma unroll
        for (int c = 0; c < SIDE; c += 4) {
            const float *four = &results[r][c];
            set_four(C, down, left + col + c / 4 * (WARP_COLS / 2),
                     make_float4(four[0], four[1], four[2], four[3]));
        }
    }
}
