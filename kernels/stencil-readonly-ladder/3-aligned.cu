// Rung 3: a warp's loads and stores begin where a sector does.
//
// The first point lies behind a halo of 16 bytes, and so in the middle of a sector. Here the
// grid's first thread stands for the halo and has nothing to do: all others are off by one
// vector, a warp's 512 bytes begin with a sector, and none is written by two warps.
//
// Run it:  cargo run -p stencil-readonly -- --variant aligned

#include "four_points.h"

__constant__ float coef[RADIUS + 1];

// ANCHOR: stencil_aligned
extern "C" __global__ void stencil_aligned(const float *in, float *out, int size) {
    int vector = threadIdx.x + blockIdx.x * blockDim.x - 1;
    if (vector >= 0) four_points(in, out, size, 4 * vector, coef);
}
// ANCHOR_END: stencil_aligned
