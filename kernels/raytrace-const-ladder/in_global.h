// Spheres in global memory.

#pragma once

#include "patch.h"

struct InGlobal {
    const Outline *outlines;
    const Surface *surfaces;
    // Loads 16 bytes at once. A test uses twelve of them, which clang would
    // otherwise fetch with two loads.
    // ANCHOR: outline
    __device__ Outline outline(int i) const {
        float4 vector = __ldg((const float4 *)&outlines[i]);
        return {vector.x, vector.y, vector.z, vector.w};
    }
    // ANCHOR_END: outline
    __device__ Surface surface(int i) const { return surfaces[i]; }
};
