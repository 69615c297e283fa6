// Rejected at: checks
// Says: A data race: a write to data that another thread may not have read yet
// A warp waits only for itself, but its last thread reads data that another warp writes.

#include "cuda_device.h"

#define BLOCK 256

extern "C" __global__ void differences(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK + 1];
    int t = threadIdx.x;
    for (int first = blockIdx.x * BLOCK; first < n; first += gridDim.x * BLOCK) {
        int i = first + t;
        if (i <= n) tile[t] = in[i];
        if (t == BLOCK - 1 && i < n) tile[BLOCK] = in[i + 1];
        __syncthreads();
        if (i < n) out[i] = tile[t + 1] - tile[t];
        __syncwarp();
    }
}
