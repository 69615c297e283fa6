// Rung 1, a step down: the note's kernel with x and y swapped.
//
// Neighbouring threads process neighbouring rows, so a warp reads A in 16 or 32 rows at
// once (uncoalesced): one sector each, of which 4 bytes are used. As all rows start at
// multiples of the pitch, these sectors also fall into few sets of the cache.
//
// Run it:  cargo run -p matmul-pitched -- --variant uncoalesced,uncoalesced-linear

#include "matrix.h"

extern "C" __global__ void mat_mul_uncoalesced(const Matrix A, const Matrix B, Matrix C) {
    // ANCHOR: swapped
    size_t row = blockIdx.x * blockDim.x + threadIdx.x;
    size_t col = blockIdx.y * blockDim.y + threadIdx.y;
    // ANCHOR_END: swapped
    if (row >= C.rows || col >= C.cols) return;

    float result = 0.0f;
#pragma unroll 4
    for (size_t i = 0; i < B.rows; i++) {
        result = fmaf(A.elements[row * A.stride + i], B.elements[i * B.stride + col], result);
    }
    C.elements[row * C.stride + col] = result;
}
