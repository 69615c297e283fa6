// Rejected at: launch
// Says: did not write the only element of
// Up to three samples at the end are not processed.

#include "cuda_device.h"

extern "C" __global__ void clip_all(const float *in, float *out, float level, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count / 4) return;
    float4 four = ((const float4 *)in)[i];
    four.x = fminf(fmaxf(four.x, -level), level);
    four.y = fminf(fmaxf(four.y, -level), level);
    four.z = fminf(fmaxf(four.z, -level), level);
    four.w = fminf(fmaxf(four.w, -level), level);
    ((float4 *)out)[i] = four;
}
