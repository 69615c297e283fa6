// Rung 3: four columns per thread.
//
// Pitched memory makes this possible: every row starts at a multiple of 16 bytes for any
// width, so four floats take one load; and past the last column there is padding, which
// may be read: its products are not stored. One load of A now feeds four products, and one
// request of a warp covers up to four times the columns.
//
// Run it:  cargo run -p matmul-pitched -- --variant float4

#include "fours.h"

extern "C" __global__ void mat_mul_float4(const Matrix A, const Matrix B, Matrix C) {
    size_t row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t col = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (row >= C.rows || col >= C.cols) return;

    float sums[4] = {};
    // ANCHOR: loop
#pragma unroll 4
    for (size_t i = 0; i < B.rows; i++) {
        float4 y = __ldg((const float4 *)&B.elements[i * B.stride + col]);
        add_products(sums, __ldg(&A.elements[row * A.stride + i]), y);
    }
    // ANCHOR_END: loop
    store(C, row, col, sums);
}
