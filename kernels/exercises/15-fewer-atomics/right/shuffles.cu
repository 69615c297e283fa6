// Warps sum with shuffles, and the first warp sums their results.
#include "cuda_device.h"

__device__ unsigned int total;

__device__ unsigned int warp_sum(unsigned int number) {
    for (int far = 16; far > 0; far /= 2) number += __shfl_down_sync(~0u, number, far);
    return number;
}

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int sums[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int sum = warp_sum(i < count ? numbers[i] : 0);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = warp_sum(threadIdx.x < 8 ? sums[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(&total, sum);
}
