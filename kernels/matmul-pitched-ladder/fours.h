// Four columns at a time, for the rungs that load 16 bytes of a row at once.

#pragma once

#include "matrix.h"

// Adds x times four columns of B to four sums.
__device__ __forceinline__ void add_products(float (&sums)[4], float x, float4 y) {
    sums[0] = fmaf(x, y.x, sums[0]);
    sums[1] = fmaf(x, y.y, sums[1]);
    sums[2] = fmaf(x, y.z, sums[2]);
    sums[3] = fmaf(x, y.w, sums[3]);
}

// Stores those of four sums that are elements of C.
__device__ __forceinline__ void store(Matrix C, size_t row, size_t col, const float (&sums)[4]) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (col + c < C.cols) C.elements[row * C.stride + col + c] = sums[c];
    }
}
