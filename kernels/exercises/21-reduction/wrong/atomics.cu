// Rejected at: counters
// Says: The costliest access of line 14
// Every thread adds to one word, so the additions are serialized.

#include "cuda_device.h"

#define BLOCK 256

extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ float sum;
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    if (i < n) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
