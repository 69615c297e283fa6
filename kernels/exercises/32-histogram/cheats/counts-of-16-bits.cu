// Rejected at: right
// Says: elements of `counts` are wrong

#include "cuda_device.h"

// Two counts per word, each of 16 bits.
extern "C" __global__ void histogram(const unsigned char *values, unsigned int *counts, int n) {
    __shared__ unsigned int own[128];
    if (threadIdx.x < 128) own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[values[i] / 2], values[i] % 2 ? 1u << 16 : 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x / 2] >> 16 * (threadIdx.x % 2) & 0xffff);
}
