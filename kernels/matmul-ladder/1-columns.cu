// Rung 1: each thread computes eight elements of a column of C instead of one.
//
// With one thread per element, each multiply-add reads two numbers from shared memory.
// Here a number of B is reused for eight of them from a register (register tiling): nine
// shared loads for eight multiply-adds. The block's tile of C is 64x64, so global memory
// is read a quarter as often as with tiles of 16x16.
//
// Run it:  cargo run -p matmul-tiled -- --variant columns

#include "matrix.h"

constexpr int ROWS = 64, COLS = 64;  // tile of C per block
constexpr int DEPTH = 8;             // columns of a tile of A, rows of a tile of B
constexpr int EACH = 8;              // elements of C per thread
constexpr int THREADS = ROWS * COLS / EACH;

// Computes C = AB, with the products of an element added up in order.
extern "C" __global__ void __launch_bounds__(THREADS)
    mat_mul_columns(const Matrix A, const Matrix B, Matrix C) {
    __shared__ float As[ROWS][DEPTH];
    __shared__ float Bs[DEPTH][COLS];
    const size_t upper = (size_t)blockIdx.y * ROWS, left = (size_t)blockIdx.x * COLS;
    const int a_row = threadIdx.x / DEPTH, a_col = threadIdx.x % DEPTH;
    const int b_row = threadIdx.x / COLS, b_col = threadIdx.x % COLS;
    const int row = threadIdx.x / COLS * EACH, col = threadIdx.x % COLS;

    float results[EACH] = {};
    for (size_t i = 0; i < B.rows; i += DEPTH) {
        As[a_row][a_col] = get_element(A, upper + a_row, i + a_col);
        Bs[b_row][b_col] = get_element(B, i + b_row, left + b_col);
        __syncthreads();
        // ANCHOR: multiply
#pragma unroll
        for (int j = 0; j < DEPTH; j++) {
            const float b = Bs[j][col];
#pragma unroll
            for (int r = 0; r < EACH; r++) results[r] = fmaf(As[row + r][j], b, results[r]);
        }
        // ANCHOR_END: multiply
        __syncthreads();
    }

#pragma unroll
    for (int r = 0; r < EACH; r++) set_element(C, upper + row + r, left + col, results[r]);
}
