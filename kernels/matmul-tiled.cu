// A tiled matrix multiplication (GEMM) in shared memory.
//
// Shows how shared memory reduces global memory accesses. A block computes a square of C.
// It walks along a band of A and down a band of B, one tile of each at a time: each thread
// loads one element of both tiles from global memory, and then all threads of the block
// read the tiles from shared memory. An element is loaded once for a whole row or column
// of threads, instead of once per thread.
//
//   mat_mul_tiled_8, _16, _32    tiles of 8x8, 16x16, 32x32, one thread per element:
//                                2MNP / BLOCK_SIZE loads and MP stores in total
//
// Follows the note on memory, "Shared memory", code 4.5. It is compared with
// mat_mul_pitched, in matmul-pitched.cu.
// Run it:  cargo run -p matmul-tiled

#include "cuda_device.h"

// A row-major matrix whose rows start `stride` elements apart.
struct Matrix {
    size_t rows;
    size_t cols;
    float *elements;
    size_t stride;
};

__device__ __forceinline__ bool has_element(const Matrix A, size_t row, size_t col) {
    return row < A.rows && col < A.cols;
}

// Returns an element, or zero past the edge, which adds nothing to a sum; reads nothing there.
__device__ __forceinline__ float get_element(const Matrix A, size_t row, size_t col) {
    return has_element(A, row, col) ? A.elements[row * A.stride + col] : 0.0f;
}

// Stores an element; does nothing past the edge.
__device__ __forceinline__ void set_element(Matrix A, size_t row, size_t col, float value) {
    if (has_element(A, row, col)) A.elements[row * A.stride + col] = value;
}

// Returns A from its tile (upper, left) on: as large as the rest of A, so that its edges
// are A's edges. The tile must start within A.
template <size_t BLOCK_SIZE>
__device__ __forceinline__ Matrix get_sub_matrix(Matrix A, size_t upper, size_t left) {
    upper *= BLOCK_SIZE;
    left *= BLOCK_SIZE;
    return Matrix{A.rows - upper, A.cols - left, A.elements + upper * A.stride + left, A.stride};
}

// ANCHOR: mat_mul_tiled
// Computes C = AB. The multiply-add is written as one operation, which rounds once, and the
// tiles are processed in order, so that the sums equal those of mat_mul_pitched bit by bit.
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

        // No thread may read the tiles until all threads have written to them ...
        __syncthreads();
#pragma unroll
        for (size_t j = 0; j < BLOCK_SIZE; j++) {
            result = fmaf(As[row][j], Bs[j][col], result);
        }
        // ... and no thread may write the next tiles until all have read these.
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
