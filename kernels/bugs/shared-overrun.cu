// A tile with space for the block and one side of its halo, and a stencil with two sides.
// The last thread reads past the end of the tile, and so past the block's shared memory.

#include "cuda_device.h"

#define BLOCK_SIZE 256

extern "C" __global__ void shared_overrun(const float *in, float *out) {
    __shared__ float tile[BLOCK_SIZE + 1];
    int t = threadIdx.x + 1, i = blockIdx.x * BLOCK_SIZE + t;
    tile[t] = in[i];
    if (t == 1) tile[0] = in[i - 1];
    if (t == BLOCK_SIZE) {
        tile[t + 1] = in[i + 1]; // BUG: mem
    }
    __syncthreads();
    out[i] = tile[t - 1] + tile[t] + tile[t + 1]; // BUG: mem
}

extern "C" __global__ void shared_overrun_right(const float *in, float *out) {
    __shared__ float tile[BLOCK_SIZE + 2];
    int t = threadIdx.x + 1, i = blockIdx.x * BLOCK_SIZE + t;
    tile[t] = in[i];
    if (t == 1) tile[0] = in[i - 1];
    if (t == BLOCK_SIZE) {
        tile[t + 1] = in[i + 1];
    }
    __syncthreads();
    out[i] = tile[t - 1] + tile[t] + tile[t + 1];
}
