// Rejected at: right
// Says: wrong
// Computes in int.
#include "cuda_device.h"
#define BLOCK 256
extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ int tile[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step) tile[t] += tile[t + step];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
