// A matrix product through tiles in shared memory.
//
// Shows what shared memory saves. A block computes a square of C. It walks along a
// band of A and down a band of B, a tile of either at a time: each thread fetches one
// element of both tiles from global memory, and then all threads of the block read
// the tiles from shared memory. So an element is fetched once for a whole row or
// column of threads, and not by each of them.
//
//   mat_mul_tiled_8, _16, _32    tiles of 8x8, 16x16, 32x32, a thread an element:
//                                2MNP / BLOCK_SIZE loads and MP stores in all
//
// Belongs to the note on memory, "Shared memory", code 4.5. It is compared with
// mat_mul_pitched, in matmul-pitched.cu.
// Run it:  cargo run -p matmul-tiled

#include "cuda_device.h"

// Elements in rows, `stride` elements from the start of a row to that of the next.
struct Matrix {
    size_t rows;
    size_t cols;
    float *elements;
    size_t stride;
};

__device__ __forceinline__ bool has_element(const Matrix A, size_t row, size_t col) {
    return row < A.rows && col < A.cols;
}

// Past the edge there are zeros, which add nothing to a product. Nothing is read there.
__device__ __forceinline__ float get_element(const Matrix A, size_t row, size_t col) {
    return has_element(A, row, col) ? A.elements[row * A.stride + col] : 0.0f;
}

// Past the edge there is nothing to set.
__device__ __forceinline__ void set_element(Matrix A, size_t row, size_t col, float value) {
    if (has_element(A, row, col)) A.elements[row * A.stride + col] = value;
}

// A from its tile (upper, left) on: as large as the rest of A, so that its edges are
// A's edges. The tile has to begin within A.
template <size_t BLOCK_SIZE>
__device__ __forceinline__ Matrix get_sub_matrix(Matrix A, size_t upper, size_t left) {
    upper *= BLOCK_SIZE;
    left *= BLOCK_SIZE;
    return Matrix{A.rows - upper, A.cols - left, A.elements + upper * A.stride + left, A.stride};
}

// ANCHOR: mat_mul_tiled
// C = AB. The multiply-add is written as one operation, which rounds once, and the
// tiles are taken in order, so that the sums are those of mat_mul_pitched bit by bit.
template <size_t BLOCK_SIZE>
__device__ __forceinline__ void mat_mul(const Matrix A, const Matrix B, Matrix C) {
    size_t block_row = blockIdx.y;
    size_t block_col = blockIdx.x;
    size_t row = threadIdx.y;
    size_t col = threadIdx.x;

    __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];

    float result = 0.0f;
    size_t N_block = (B.rows + BLOCK_SIZE - 1) / BLOCK_SIZE;
    for (size_t i = 0; i < N_block; i++) {
        As[row][col] = get_element(get_sub_matrix<BLOCK_SIZE>(A, block_row, i), row, col);
        Bs[row][col] = get_element(get_sub_matrix<BLOCK_SIZE>(B, i, block_col), row, col);

        // Until all threads have written to the tiles, none may read them ...
        __syncthreads();
#pragma unroll
        for (size_t j = 0; j < BLOCK_SIZE; j++) {
            result = fmaf(As[row][j], Bs[j][col], result);
        }
        // ... and until all have read them, none may write the next ones there.
        __syncthreads();
    }

    set_element(get_sub_matrix<BLOCK_SIZE>(C, block_row, block_col), row, col, result);
}
// ANCHOR_END: mat_mul_tiled

extern "C" __global__ void mat_mul_tiled_8(const Matrix A, const Matrix B, Matrix C) {
    mat_mul<8>(A, B, C);
}

extern "C" __global__ void mat_mul_tiled_16(const Matrix A, const Matrix B, Matrix C) {
    mat_mul<16>(A, B, C);
}

extern "C" __global__ void mat_mul_tiled_32(const Matrix A, const Matrix B, Matrix C) {
    mat_mul<32>(A, B, C);
}
