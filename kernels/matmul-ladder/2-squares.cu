// Rung 2: each thread computes a square of 8x8 elements of C.
//
// Eight numbers of A and eight of B, in registers, feed 64 multiply-adds: one shared load
// per four of them, where a column of eight took more than one each. The block's tile of C
// is 128x128, so global memory is read half as often as on rung 1.
//
// Run it:  cargo run -p matmul-tiled -- --variant squares

#include "matrix.h"

constexpr int TILE = 128;  // rows and columns of a block's tile of C
constexpr int DEPTH = 8;   // columns of a tile of A, rows of a tile of B
constexpr int SIDE = 8;    // rows and columns of a thread's square
constexpr int ACROSS = TILE / SIDE;
constexpr int THREADS = ACROSS * ACROSS;

extern "C" __global__ void __launch_bounds__(THREADS)
    mat_mul_squares(const Matrix A, const Matrix B, Matrix C) {
    __shared__ float As[TILE][DEPTH];
    __shared__ float Bs[DEPTH][TILE];
    const size_t upper = (size_t)blockIdx.y * TILE, left = (size_t)blockIdx.x * TILE;
    const int row = threadIdx.x / ACROSS * SIDE, col = threadIdx.x % ACROSS * SIDE;

    float results[SIDE][SIDE] = {};
    for (size_t i = 0; i < B.rows; i += DEPTH) {
#pragma unroll
        for (int first = 0; first < TILE * DEPTH; first += THREADS) {
            const int n = first + threadIdx.x;
            As[n / DEPTH][n % DEPTH] = get_element(A, upper + n / DEPTH, i + n % DEPTH);
            Bs[n / TILE][n % TILE] = get_element(B, i + n / TILE, left + n % TILE);
        }
        __syncthreads();
        // ANCHOR: multiply
#pragma unroll
        for (int j = 0; j < DEPTH; j++) {
            float a[SIDE], b[SIDE];
#pragma unroll
            for (int r = 0; r < SIDE; r++) a[r] = As[row + r][j];
#pragma unroll
            for (int c = 0; c < SIDE; c++) b[c] = Bs[j][col + c];
#pragma unroll
            for (int r = 0; r < SIDE; r++) {
#pragma unroll
                for (int c = 0; c < SIDE; c++) results[r][c] = fmaf(a[r], b[c], results[r][c]);
            }
        }
        // ANCHOR_END: multiply
        __syncthreads();
    }

#pragma unroll
    for (int r = 0; r < SIDE; r++) {
#pragma unroll
        for (int c = 0; c < SIDE; c++) {
            set_element(C, upper + row + r, left + col + c, results[r][c]);
        }
    }
}
