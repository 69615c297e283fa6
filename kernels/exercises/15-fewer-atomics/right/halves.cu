// Half of a block adds the values of the other half, repeatedly.
#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int sums[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    sums[t] = i < count ? numbers[i] : 0;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) sums[t] += sums[t + half];
    }
    if (t == 0) atomicAdd(&total, sums[0]);
}
