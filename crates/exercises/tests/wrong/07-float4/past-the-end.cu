// Rejected at: launch
// Says: threads past the end that no `if (i < n)` keeps out
// The last four samples are not always all there.

#include "cuda_device.h"

extern "C" __global__ void clip_all(const float *in, float *out, float level, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i >= count) return;
    float4 four = ((const float4 *)in)[i];
    four.x = fminf(fmaxf(four.x, -level), level);
    four.y = fminf(fmaxf(four.y, -level), level);
    four.z = fminf(fmaxf(four.z, -level), level);
    four.w = fminf(fmaxf(four.w, -level), level);
    ((float4 *)out)[i] = four;
}
