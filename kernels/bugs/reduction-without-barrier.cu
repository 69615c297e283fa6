// A tree reduction in shared memory without a barrier between its steps. A warp may add sums
// that another warp has not written yet.

#include "cuda_device.h"

#define BLOCK_SIZE 256

extern "C" __global__ void reduction_without_barrier(const float *in, float *sums) {
    __shared__ float values[BLOCK_SIZE];
    int t = threadIdx.x;
    values[t] = in[blockIdx.x * BLOCK_SIZE + t];
    __syncthreads();
    for (int d = BLOCK_SIZE / 2; d >= 32; d /= 2) {
        if (t < d) {
            values[t] += values[t + d]; // BUG: race
        }
    }
    __syncthreads();
    if (t == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 32; i++) sum += values[i];
        sums[blockIdx.x] = sum;
    }
}

extern "C" __global__ void reduction_without_barrier_right(const float *in, float *sums) {
    __shared__ float values[BLOCK_SIZE];
    int t = threadIdx.x;
    values[t] = in[blockIdx.x * BLOCK_SIZE + t];
    __syncthreads();
    for (int d = BLOCK_SIZE / 2; d >= 32; d /= 2) {
        if (t < d) {
            values[t] += values[t + d];
        }
        __syncthreads();
    }
    if (t == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 32; i++) sum += values[i];
        sums[blockIdx.x] = sum;
    }
}
