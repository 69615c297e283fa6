// Threads past the end return before a barrier that the others wait at. GPUs do not count threads
// that are gone, but CUDA does not promise it, and what they had to load for others is missing.

#include "cuda_device.h"

#define BLOCK_SIZE 64

extern "C" __global__ void early_return(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    if (i >= n) return;
    tile[t] = in[i];
    __syncthreads(); // BUG: sync
    out[i] = tile[t > 0 ? t - 1 : 0];
}

extern "C" __global__ void early_return_right(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    if (i < n) tile[t] = in[i];
    __syncthreads();
    if (i < n) out[i] = tile[t > 0 ? t - 1 : 0];
}
