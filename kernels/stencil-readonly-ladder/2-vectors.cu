// Rung 2: four points a thread, sixteen bytes a load and a store.
//
// A request brings four times as much, and there is a quarter of the threads to start.
//
// Run it:  cargo run -p stencil-readonly -- --variant vectors

#include "four_points.h"

__constant__ float coef[RADIUS + 1];

// `in` and `out` have to lie on a boundary of 16 bytes, as they do behind a halo of four.
extern "C" __global__ void stencil_vectors(const float *in, float *out, int size) {
    int vector = threadIdx.x + blockIdx.x * blockDim.x;
    four_points(in, out, size, 4 * vector, coef);
}
