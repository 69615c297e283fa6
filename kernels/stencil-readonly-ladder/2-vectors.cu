// Rung 2: four points per thread, with 16-byte loads and stores.
//
// A request transfers four times as much, and only a quarter of the threads is launched.
//
// Run it:  cargo run -p stencil-readonly -- --variant vectors

#include "four_points.h"

__constant__ float coef[RADIUS + 1];

// Requires `in` and `out` to be aligned to 16 bytes, as they are after a halo of four.
extern "C" __global__ void stencil_vectors(const float *in, float *out, int size) {
    int vector = threadIdx.x + blockIdx.x * blockDim.x;
    four_points(in, out, size, 4 * vector, coef);
}
