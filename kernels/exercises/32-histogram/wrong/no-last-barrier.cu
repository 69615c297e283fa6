// Rejected at: right, checks
// Says: A data race: a read of data that another thread may not have written yet
#include "cuda_device.h"

extern "C" __global__ void histogram(const unsigned char *values, unsigned int *counts, int n) {
    __shared__ unsigned int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[values[i]], 1u);
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
