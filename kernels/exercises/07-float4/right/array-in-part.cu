// Loads only the elements that exist into a local array, and computes with all.
#include "cuda_device.h"

__device__ float clip(float sample, float level) { return fminf(fmaxf(sample, -level), level); }

// Whole groups are moved as a vector; of the last group only the elements that exist are moved. All four are
// computed, and what is computed from an element that does not exist is not used.
extern "C" __global__ void clip_all(const float *in, float *out, float level, int count) {
    int j = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    __align__(16) float v[4];
    bool whole = j + 4 <= count;
    if (whole)
        *(float4 *)v = *(const float4 *)(in + j);
    else
        for (int k = 0; k < 4; ++k)
            if (j + k < count) v[k] = in[j + k];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = clip(v[k], level);
    if (whole)
        *(float4 *)(out + j) = *(float4 *)v;
    else
        for (int k = 0; k < 4; ++k)
            if (j + k < count) out[j + k] = v[k];
}
