// Code shared by the ladder's rungs: a point's result, computed from neighbours in
// registers or in global memory. Additions are in the order of the note's kernels, so the
// results are identical bit by bit.

#pragma once

#include "cuda_device.h"

// Points on either side that a result depends on.
#define RADIUS 4

// Returns one point's result, computed from its neighbours in registers:
// `points[RADIUS]` is the point itself.
__device__ __forceinline__ float stencil(const float *points, const float *c) {
    float tmp = 0.0f;
#pragma unroll
    for (int i = 1; i <= RADIUS; i++) {
        tmp = fmaf(c[i], points[RADIUS + i] - points[RADIUS - i], tmp);
    }
    return tmp;
}

// ANCHOR: stencil_at
// Returns the same result, computed from neighbours in read-only global memory.
__device__ __forceinline__ float stencil_at(const float *point, const float *c) {
    float points[2 * RADIUS + 1];
#pragma unroll
    for (int i = -RADIUS; i <= RADIUS; i++) points[RADIUS + i] = __ldg(&point[i]);
    return stencil(points, c);
}
// ANCHOR_END: stencil_at
