// Rung 1: no shared memory, and therefore no barrier.
//
// Each thread loads its eight neighbours itself. A warp's eight loads touch five sectors,
// which the first load brings into the L1 cache for the others. The cache serves more
// requests than before, but no thread waits for another.
//
// Run it:  cargo run -p stencil-readonly -- --variant cached

#include "neighbours.h"

__constant__ float coef[RADIUS + 1];

extern "C" __global__ void stencil_cached(const float *in, float *out, int size) {
    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    if (idx < size) out[idx] = stencil_at(&in[idx], coef);
}
