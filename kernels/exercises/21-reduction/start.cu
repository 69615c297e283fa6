// Computes sums of blocks. Pairs of neighbours are added first, then pairs of those sums,
// and so on: eight steps for 256 numbers.

#include "cuda_device.h"

// Threads per block, and numbers that a block adds up.
#define BLOCK 256

// Computes sums[b] = in[BLOCK * b] + ... + in[BLOCK * b + BLOCK - 1], for indices below n.
extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ float tile[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    // TODO: the threads that add are adjacent; make the words that they add adjacent as well.
    for (int step = 1; step < BLOCK; step *= 2) {
        int left = 2 * step * t;
        if (left < BLOCK) tile[left] += tile[left + step];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
