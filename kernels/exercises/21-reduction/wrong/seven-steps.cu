// Rejected at: right
// Says: the sum of only the terms 0, 2, 4 …: those in between are missing.
// The loop ends one step early, so two numbers remain.

#include "cuda_device.h"

#define BLOCK 256

extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ float tile[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int half = BLOCK / 2; half > 1; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
