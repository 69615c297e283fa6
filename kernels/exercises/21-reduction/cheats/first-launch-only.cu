// Rejected at: counters
// Says: bank conflicts
// Has no conflicts in the first launch of the module.
// Computes sums of blocks. Each step adds the upper half of the remaining sums to the lower
// half, so neighbouring threads read neighbouring words.

#include "cuda_device.h"

// Threads per block, and numbers that a block adds up.
#define BLOCK 256

// Computes sums[b] = in[BLOCK * b] + ... + in[BLOCK * b + BLOCK - 1], for indices below n.
__device__ int ran[1 << 20];
extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ float tile[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    tile[t] = i < n ? in[i] : 0.0f;
    int again = __syncthreads_or(t == 0 && ran[blockIdx.x]);
    if (t == 0) ran[blockIdx.x] = 1;
    if (again) {
      for (int step = 1; step < BLOCK; step *= 2) {
        int left = 2 * step * t;
        if (left < BLOCK) tile[left] += tile[left + step];
        __syncthreads();
      }
    } else for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
