// Sums of blocks. Each step adds the upper half of what is left to the lower half: threads in a row
// read words in a row.

#include "cuda_device.h"

// Threads of a block, and numbers that it adds up.
#define BLOCK 256

// sums[b] = in[BLOCK * b] + ... + in[BLOCK * b + BLOCK - 1], of those there are.
extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ float tile[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
