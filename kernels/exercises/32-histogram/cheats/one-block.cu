// Rejected at: time
// Says: one thread, one warp of a block or one block
#include "cuda_device.h"

extern "C" __global__ void histogram(const unsigned char *values, unsigned int *counts, int n) {
    __shared__ unsigned int own[256];
    if (blockIdx.x > 0) return;
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&own[values[i]], 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
