// The settings are four floats, and each thread processes four samples.
#include "cuda_device.h"

extern "C" { __constant__ float4 settings; }

__device__ float amplified(float sample) {
    return fmaxf(fminf(settings.x * sample + settings.y, settings.w), settings.z);
}

extern "C" __global__ void amplify(const float *in, float *out, int count) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 4 <= count) {
        float4 x = *(const float4 *)&in[i];
        *(float4 *)&out[i] =
            make_float4(amplified(x.x), amplified(x.y), amplified(x.z), amplified(x.w));
    } else {
        for (; i < count; ++i) out[i] = amplified(in[i]);
    }
}
