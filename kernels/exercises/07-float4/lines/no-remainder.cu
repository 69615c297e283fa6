// The error is reported with the correct line.
// Clips a recording: limits samples louder than `level` to that level.
//
// Launched with blocks of 256 threads, one thread per four samples, rounded up. `in` and
// `out` are aligned to 256 bytes. `count` need not be a multiple of four.

#include "cuda_device.h"

__device__ float clip(float sample, float level) {
    return fminf(fmaxf(sample, -level), level);
}

extern "C" __global__ void clip_all(const float *in, float *out, float level, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i >= count) return;
    float4 v = ((const float4 *)in)[i];
    v.x = clip(v.x, level); v.y = clip(v.y, level); v.z = clip(v.z, level); v.w = clip(v.w, level);
    ((float4 *)out)[i] = v;
}
