// Rung 4: warp tiles: a warp's threads are close together, and their elements are interleaved.
//
// A warp computes a tile of 64x32 instead of a band of 16x128, so that its threads read
// fewer different numbers from shared memory. A thread's square is split into four of 4x4,
// so that neighbouring threads read neighbouring fours: a warp's load then touches
// different banks, where fours eight elements apart took two wavefronts or more.
//
// Run it:  cargo run -p matmul-tiled -- --variant warp-tiles

#include "matrix.h"

constexpr int TILE = 128;                      // rows and columns of a block's tile of C
constexpr int DEPTH = 8;                       // columns of a tile of A, rows of one of B
constexpr int SIDE = 8;                        // rows and columns of a thread's elements
constexpr int WARP_ROWS = 64, WARP_COLS = 32;  // of a warp's tile
constexpr int LANE_COLS = WARP_COLS / SIDE;    // threads along it; 8 down
constexpr int THREADS = TILE * TILE / SIDE / SIDE;

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    mat_mul_warp_tiles(const Matrix A, const Matrix B, Matrix C) {
    __shared__ __align__(16) float As[DEPTH][TILE];
    __shared__ __align__(16) float Bs[DEPTH][TILE];
    const size_t upper = (size_t)blockIdx.y * TILE, left = (size_t)blockIdx.x * TILE;
    const int a_row = threadIdx.x / (DEPTH / 4), a_col = threadIdx.x % (DEPTH / 4) * 4;
    const int b_row = threadIdx.x / (TILE / 4), b_col = threadIdx.x % (TILE / 4) * 4;
    // ANCHOR: place
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / (TILE / WARP_COLS) * WARP_ROWS + lane / LANE_COLS * 4;
    const int col = warp % (TILE / WARP_COLS) * WARP_COLS + lane % LANE_COLS * 4;
    // ANCHOR_END: place

    float results[SIDE][SIDE] = {};
    for (size_t i = 0; i < B.rows; i += DEPTH) {
        const float4 four = get_four(A, upper + a_row, i + a_col);
        As[a_col][a_row] = four.x;
        As[a_col + 1][a_row] = four.y;
        As[a_col + 2][a_row] = four.z;
        As[a_col + 3][a_row] = four.w;
        *(float4 *)&Bs[b_row][b_col] = get_four(B, i + b_row, left + b_col);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < DEPTH; j++) {
            float a[SIDE], b[SIDE];
            // ANCHOR: take
            take_four(&a[0], &As[j][row]);
            take_four(&a[4], &As[j][row + WARP_ROWS / 2]);
            take_four(&b[0], &Bs[j][col]);
            take_four(&b[4], &Bs[j][col + WARP_COLS / 2]);
            // ANCHOR_END: take
#pragma unroll
            for (int r = 0; r < SIDE; r++) {
#pragma unroll
                for (int c = 0; c < SIDE; c++) results[r][c] = fmaf(a[r], b[c], results[r][c]);
            }
        }
        __syncthreads();
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
