// The last threads of the grid process the remainder; the first process four elements each.
#include "cuda_device.h"

__device__ float clip(float sample, float level) {
    return sample > level ? level : sample < -level ? -level : sample;
}

extern "C" __global__ void clip_all(const float *in, float *out, float level, int count) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 4 <= count) {
        const float4 v = *(const float4 *)(in + i);
        *(float4 *)(out + i) =
            make_float4(clip(v.x, level), clip(v.y, level), clip(v.z, level), clip(v.w, level));
        return;
    }
    for (int j = i; j < count; ++j) out[j] = clip(in[j], level);
}
