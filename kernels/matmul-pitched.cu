// A matrix multiplication (GEMM) in pitched memory, one thread per element.
//
// Shows how a kernel indexes padded rows. A pitched allocation starts every row
// at an alignment that suits the device, so a row is longer than the matrix is
// wide: element (row, col) is at row * stride + col, and the stride differs
// from the number of columns.
//
//   mat_mul_pitched    each thread reads a row of A and a column of B entirely from
//                      global memory: 2MNP loads and MP stores in total
//
// Follows the note on memory, "Device memory", code 4.3.
// Run it:  cargo run -p matmul-pitched

#include "cuda_device.h"

// A row-major matrix whose rows start `stride` elements apart.
struct Matrix {
    size_t rows;
    size_t cols;
    float *elements;
    size_t stride;
};

__device__ __forceinline__ float get_element(const Matrix A, size_t row, size_t col) {
    return A.elements[row * A.stride + col];
}

__device__ __forceinline__ void set_element(Matrix A, size_t row, size_t col, float value) {
    A.elements[row * A.stride + col] = value;
}

// Computes C = AB. Threads past the edge of C do nothing.
//
// The multiply-add is written as one operation, which rounds once, so that every GPU, the
// simulator and the reference in Rust agree bit by bit. (nvcc fuses it and unrolls the
// loop by four on its own; clang needs both written out.)
extern "C" __global__ void mat_mul_pitched(const Matrix A, const Matrix B, Matrix C) {
    size_t row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= C.rows || col >= C.cols) return;

    float result = 0.0f;
    size_t N = B.rows;
#pragma unroll 4
    for (size_t i = 0; i < N; i++) {
        result = fmaf(get_element(A, row, i), get_element(B, i, col), result);
    }
    set_element(C, row, col, result);
}
