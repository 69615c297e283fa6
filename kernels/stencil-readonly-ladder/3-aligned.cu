// Rung 3: a warp's loads and stores start at a sector boundary.
//
// The first point follows a halo of 16 bytes, so it is in the middle of a sector. Here the
// grid's first thread covers the halo and does nothing: all others are shifted by one vector,
// a warp's 512 bytes start at a sector boundary, and no sector is written by two warps.
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
