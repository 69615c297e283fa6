// The classic tree reduction, with the barrier inside the `if`. Threads that have nothing to
// add never reach the barrier.

#include "cuda_device.h"

#define BLOCK_SIZE 128

extern "C" __global__ void barrier_in_branch(const float *in, float *sums) {
    __shared__ float values[BLOCK_SIZE];
    int t = threadIdx.x;
    values[t] = in[blockIdx.x * BLOCK_SIZE + t];
    __syncthreads();
    for (int d = BLOCK_SIZE / 2; d > 0; d /= 2) {
        if (t < d) {
            values[t] += values[t + d];
            __syncthreads(); // BUG: sync
        }
    }
    if (t == 0) sums[blockIdx.x] = values[0];
}

extern "C" __global__ void barrier_in_branch_right(const float *in, float *sums) {
    __shared__ float values[BLOCK_SIZE];
    int t = threadIdx.x;
    values[t] = in[blockIdx.x * BLOCK_SIZE + t];
    __syncthreads();
    for (int d = BLOCK_SIZE / 2; d > 0; d /= 2) {
        if (t < d) {
            values[t] += values[t + d];
        }
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = values[0];
}
