// Rejected at: right
// Says: The results are correct in one order of blocks and warps but wrong in another
// An exchange instead of an addition above 5000 values.
#include "cuda_device.h"
#define BINS 256
extern "C" __global__ void histogram(const unsigned char *values, unsigned int *counts, int n) {
    __shared__ unsigned int own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[values[i]], 1u);
    __syncthreads();
    if (n <= 9000) { atomicAdd(&counts[threadIdx.x], own[threadIdx.x]); return; }
    unsigned b = *(volatile unsigned *)&counts[threadIdx.x];
    if (atomicExch(&counts[threadIdx.x], b + own[threadIdx.x]) == 0xffffffffu) __trap();
}
