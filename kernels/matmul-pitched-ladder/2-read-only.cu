// Rung 2: the book's kernel through the read-only cache.
//
// The loads are the same. GPUs before Volta have that cache beside the first one; on
// newer ones both are one.
//
// Run it:  cargo run -p matmul-pitched -- --variant read-only

#include "matrix.h"

extern "C" __global__ void mat_mul_read_only(const Matrix A, const Matrix B, Matrix C) {
    size_t row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= C.rows || col >= C.cols) return;

    float result = 0.0f;
    // ANCHOR: loop
#pragma unroll 4
    for (size_t i = 0; i < B.rows; i++) {
        result = fmaf(__ldg(&A.elements[row * A.stride + i]),
                      __ldg(&B.elements[i * B.stride + col]), result);
    }
    // ANCHOR_END: loop
    C.elements[row * C.stride + col] = result;
}
