// Rung 1: no shared memory, and so no barrier.
//
// A thread asks for its eight neighbours itself. A warp's eight loads lie in five sectors,
// which the first of them to come brings into the L1 cache for the others. That answers
// more requests than before, but no thread waits for another.
//
// Run it:  cargo run -p stencil-readonly -- --variant cached

#include "neighbours.h"

__constant__ float coef[RADIUS + 1];

extern "C" __global__ void stencil_cached(const float *in, float *out, int size) {
    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    if (idx < size) out[idx] = stencil_at(&in[idx], coef);
}
