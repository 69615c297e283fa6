// Rejected at: right, checks
// Says: reads and writes data that several threads access at the same time
#include "cuda_device.h"

extern "C" __global__ void histogram(const unsigned char *values, unsigned int *counts, int n) {
    __shared__ unsigned int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own[values[i]] += 1;
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
