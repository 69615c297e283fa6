// A tile of C in a thread's registers.

#pragma once

#include "fours.h"

// Computes ROWS rows and FOURS times four columns per thread, with the sums in registers: what
// is loaded of A is reused for all those columns, what is loaded of B for all those rows. Rows
// are blockDim.y apart and fours of columns blockDim.x fours, so that accesses of neighbouring
// threads are coalesced. A row of A is read 16 bytes at a time as well, four products deep.
//
// Rows and columns are counted in 32 bits, and only addresses use 64. The largest matrix
// has fewer than 2^29 of either, and each 64-bit number takes one more register: at 8x8
// they make the difference between three blocks per SM and two.
template <int ROWS, int FOURS>
__device__ __forceinline__ void tile(const Matrix A, const Matrix B, Matrix C) {
    unsigned int top = blockIdx.y * blockDim.y * ROWS + threadIdx.y;
    unsigned int left = (blockIdx.x * blockDim.x * FOURS + threadIdx.x) * 4;
    if (top >= C.rows || left >= C.cols) return;

    // Past the edges of C a thread repeats the work of the first row or column, and
    // does not store the result.
    const float *a[ROWS];
    const float *b[FOURS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        unsigned int row = top + r * blockDim.y;
        a[r] = A.elements + (row < C.rows ? row : top) * A.stride;
    }
#pragma unroll
    for (int f = 0; f < FOURS; f++) {
        unsigned int col = left + f * blockDim.x * 4;
        b[f] = B.elements + (col < C.cols ? col : left);
    }

    float sums[ROWS][FOURS][4] = {};
    size_t i = 0;
#pragma unroll 1
    for (; i + 4 <= B.rows; i += 4) {
        // ANCHOR: products
        float4 x[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) x[r] = *(const float4 *)(a[r] + i);
#pragma unroll
        for (int k = 0; k < 4; k++) {
#pragma unroll
            for (int f = 0; f < FOURS; f++) {
                float4 y = __ldg((const float4 *)b[f]);
                b[f] += B.stride;
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    float each = k == 0 ? x[r].x : k == 1 ? x[r].y : k == 2 ? x[r].z : x[r].w;
                    add_products(sums[r][f], each, y);
                }
            }
        }
        // ANCHOR_END: products
    }
    // Up to three remaining products.
#pragma unroll 1
    for (; i < B.rows; i++) {
#pragma unroll
        for (int f = 0; f < FOURS; f++) {
            float4 y = __ldg((const float4 *)b[f]);
            b[f] += B.stride;
#pragma unroll
            for (int r = 0; r < ROWS; r++) add_products(sums[r][f], a[r][i], y);
        }
    }

#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        unsigned int row = top + r * blockDim.y;
        if (row >= C.rows) break;
#pragma unroll
        for (int f = 0; f < FOURS; f++) {
            store(C, row, left + f * blockDim.x * 4, sums[r][f]);
        }
    }
}
