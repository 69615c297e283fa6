// The mask has the lanes with numbers, and what others would give is ignored.
#include "cuda_device.h"
extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffff, i < n);
    if (i >= n) return;
    float v = in[i];
    for (int d = 16; d > 0; d /= 2) {
        float u = __shfl_down_sync(mask, v, d);
        if ((threadIdx.x & 31) + d < __popc(mask)) v += u;
    }
    if (threadIdx.x % 32 == 0) sums[i / 32] = v;
}