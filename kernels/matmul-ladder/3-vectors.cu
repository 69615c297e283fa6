// Rung 3: vector loads and stores of four elements, in global and in shared memory.
//
// A 16-byte load is one instruction and one request instead of four. For this the tile of
// A is stored transposed in shared memory: the piece of a column that a thread reads is
// then contiguous, as its piece of B is.
//
// Fewer loads need fewer addresses: with 128 registers per thread, two blocks fit on an
// SM, and one multiplies while the other waits for its tiles.
//
// Run it:  cargo run -p matmul-tiled -- --variant vectors

#include "matrix.h"

constexpr int TILE = 128;  // rows and columns of a block's tile of C
constexpr int DEPTH = 8;   // columns of a tile of A, rows of a tile of B
constexpr int SIDE = 8;    // rows and columns of a thread's square
constexpr int ACROSS = TILE / SIDE;
constexpr int THREADS = ACROSS * ACROSS;  // also the number of fours in each tile

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // two blocks per SM
    mat_mul_vectors(const Matrix A, const Matrix B, Matrix C) {
    __shared__ __align__(16) float As[DEPTH][TILE];
    __shared__ __align__(16) float Bs[DEPTH][TILE];
    const size_t upper = (size_t)blockIdx.y * TILE, left = (size_t)blockIdx.x * TILE;
    const int a_row = threadIdx.x / (DEPTH / 4), a_col = threadIdx.x % (DEPTH / 4) * 4;
    const int b_row = threadIdx.x / (TILE / 4), b_col = threadIdx.x % (TILE / 4) * 4;
    const int row = threadIdx.x / ACROSS * SIDE, col = threadIdx.x % ACROSS * SIDE;

    float results[SIDE][SIDE] = {};
    for (size_t i = 0; i < B.rows; i += DEPTH) {
        // ANCHOR: fetch
        const float4 four = get_four(A, upper + a_row, i + a_col);
        As[a_col][a_row] = four.x;
        As[a_col + 1][a_row] = four.y;
        As[a_col + 2][a_row] = four.z;
        As[a_col + 3][a_row] = four.w;
        *(float4 *)&Bs[b_row][b_col] = get_four(B, i + b_row, left + b_col);
        // ANCHOR_END: fetch
        __syncthreads();
#pragma unroll
        for (int j = 0; j < DEPTH; j++) {
            float a[SIDE], b[SIDE];
            // ANCHOR: take
#pragma unroll
            for (int n = 0; n < SIDE; n += 4) {
                take_four(&a[n], &As[j][row + n]);
                take_four(&b[n], &Bs[j][col + n]);
            }
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
#pragma unroll
        for (int c = 0; c < SIDE; c += 4) {
            const float *four = &results[r][c];
            set_four(C, upper + row + r, left + col + c,
                     make_float4(four[0], four[1], four[2], four[3]));
        }
    }
}
