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
    int fours = count / 4;
    if (i < fours) {
        float4 four = ((const float4 *)in)[i];
        four.x = clip(four.x, level);
        four.y = clip(four.y, level);
        four.z = clip(four.z, level);
        four.w = clip(four.w, level);
        ((float4 *)out)[i] = four;
    } else if (i == fours) {
        // At most three samples are left over.
        for (int j = 4 * fours; j < count; ++j) out[j] = clip(in[j], level);
    }
}
