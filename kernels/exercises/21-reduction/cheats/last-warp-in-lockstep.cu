// Rejected at: checks, right
// Says: A data race: a read of data that another thread may not have written yet
// The last five steps have no barrier, as if the threads of a warp always ran in lockstep.
#include "cuda_device.h"

#define BLOCK 256

extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ volatile float tile[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) tile[t] = tile[t] + tile[t + half];
        if (half > 32) __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
