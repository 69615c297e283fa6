// Warps sum with shuffles, and the first warp sums their results.
#include "cuda_device.h"

__device__ float warp_sum(float x) {
    for (int far = 16; far > 0; far /= 2) x += __shfl_xor_sync(~0u, x, far);
    return x;
}

extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ float parts[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float sum = warp_sum(i < n ? in[i] : 0.0f);
    if (t % 32 == 0) parts[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = warp_sum(t < 8 ? parts[t] : 0.0f);
        if (t == 0) sums[blockIdx.x] = sum;
    }
}
