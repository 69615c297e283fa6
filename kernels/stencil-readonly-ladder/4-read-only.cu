// Rung 4: rung 3 with its coefficients read through the read-only cache.
//
// The location of the coefficients no longer makes a difference.
//
// Run it:  cargo run -p stencil-readonly -- --variant read-only

#include "four_points.h"

// ANCHOR: stencil_read_only
extern "C" __global__ void stencil_read_only(const float *in, float *out, int size,
                                             const float *dcoef) {
    float c[RADIUS + 1];
#pragma unroll
    for (int i = 1; i <= RADIUS; i++) c[i] = __ldg(&dcoef[i]);

    int vector = threadIdx.x + blockIdx.x * blockDim.x - 1;
    if (vector >= 0) four_points(in, out, size, 4 * vector, c);
}
// ANCHOR_END: stencil_read_only
