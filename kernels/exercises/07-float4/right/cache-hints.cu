// Loads and stores with hints for the caches.
#include "cuda_device.h"
extern "C" __global__ void clip_all(const float *in, float *out, float level, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count / 4) {
        float4 v = __ldcs((const float4 *)in + i);
        v.x = fmaxf(fminf(v.x, level), -level);
        v.y = fmaxf(fminf(v.y, level), -level);
        v.z = fmaxf(fminf(v.z, level), -level);
        v.w = fmaxf(fminf(v.w, level), -level);
        __stcs((float4 *)out + i, v);
    }
    if (i == 0)
        for (int j = count & ~3; j < count; j++) out[j] = fmaxf(fminf(in[j], level), -level);
}