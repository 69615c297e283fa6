// Computes four points per thread.

#pragma once

#include "neighbours.h"

// Computes the results of four points from `first` on, a multiple of four; fewer where the
// array ends. A halo of four is one vector on either side: three 16-byte loads fetch all
// inputs of four points, instead of 32 loads of 4 bytes.
__device__ __forceinline__ void four_points(const float *in, float *out, int size,
                                            int first, const float *c) {
    if (first > size - 4) {
#pragma unroll 1
        for (int idx = first; idx < size; idx++) out[idx] = stencil_at(&in[idx], c);
        return;
    }
    // ANCHOR: vectors
    const float4 *vector = (const float4 *)&in[first];
    float4 before = __ldg(vector - 1), here = __ldg(vector), after = __ldg(vector + 1);
    float points[4 + 2 * RADIUS] = {before.x, before.y, before.z, before.w,
                                    here.x,   here.y,   here.z,   here.w,
                                    after.x,  after.y,  after.z,  after.w};
    *(float4 *)&out[first] = make_float4(stencil(points, c), stencil(points + 1, c),
                                         stencil(points + 2, c), stencil(points + 3, c));
    // ANCHOR_END: vectors
}
