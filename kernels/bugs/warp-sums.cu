// A block's sum computed from the sums of its warps: 32 of them are added up, but the block
// has four warps. The other 28 sums are uninitialized.

#include "cuda_device.h"

__device__ __forceinline__ float warp_sum(float value) {
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
    return value;
}

extern "C" __global__ void warp_sums(const float *in, float *sums) {
    __shared__ float partial[32];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    float sum = warp_sum(in[blockIdx.x * blockDim.x + t]);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(partial[lane]); // BUG: init
        if (lane == 0) sums[blockIdx.x] = sum;
    }
}

extern "C" __global__ void warp_sums_right(const float *in, float *sums) {
    __shared__ float partial[32];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    float sum = warp_sum(in[blockIdx.x * blockDim.x + t]);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < blockDim.x / 32 ? partial[lane] : 0.0f);
        if (lane == 0) sums[blockIdx.x] = sum;
    }
}
