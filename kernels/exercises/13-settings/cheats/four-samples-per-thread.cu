// Rejected at: counters
// Says: the variable `settings` is not in constant memory
// Settings in global memory: with four samples at a time the requests stay below the limit.
#include "cuda_device.h"

__device__ float4 settings;

__device__ float amplified(float4 by, float sample) {
    return fminf(fmaxf(by.x * sample + by.y, by.z), by.w);
}

extern "C" __global__ void amplify(const float *in, float *out, int count) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    float4 by = settings;
    if (i + 4 <= count) {
        float4 x = *(const float4 *)&in[i];
        *(float4 *)&out[i] = make_float4(amplified(by, x.x), amplified(by, x.y), amplified(by, x.z),
                                         amplified(by, x.w));
    } else {
        for (; i < count; ++i) out[i] = amplified(by, in[i]);
    }
}
