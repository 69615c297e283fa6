// Rejected at: counters
// Says: shared load wavefronts
// The words no longer conflict, because most threads of every warp are inactive, but the warps
// still execute all steps.

#include "cuda_device.h"

#define BLOCK 256

extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ float tile[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        if (t % (2 * step) == 0) tile[t] += tile[t + step];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
