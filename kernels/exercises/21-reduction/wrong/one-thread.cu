// Rejected at: counters
// Says: shared load wavefronts
// One thread sums the block's numbers: no conflicts, but 255 threads wait.

#include "cuda_device.h"

#define BLOCK 256

extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ float tile[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (t == 0) {
        float sum = 0.0f;
        for (int k = 0; k < BLOCK; k++) sum += tile[k];
        sums[blockIdx.x] = sum;
    }
}
