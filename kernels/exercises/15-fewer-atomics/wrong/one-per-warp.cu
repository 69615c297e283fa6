// Rejected at: counters
// Says: global atomic requests + global reduction requests: 3 128, required: from 1 to 391
// One addition per warp, where the hardware already had one request per warp.

#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int sum = i < count ? numbers[i] : 0;
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
}
