// Rung 2: the note's kernel with loads through the read-only cache.
//
// The loads are otherwise unchanged. On GPUs before Volta this cache is separate from the
// L1 cache; newer ones have a single cache for both.
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
