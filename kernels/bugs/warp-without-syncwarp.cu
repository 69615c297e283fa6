// The last 32 sums of a reduction by one warp, as written when a warp's lanes always ran in lockstep.
// Since Volta this is not guaranteed: __syncwarp() synchronizes the lanes where it is needed.

#include "cuda_device.h"

#define BLOCK_SIZE 64

extern "C" __global__ void warp_without_syncwarp(const float *in, float *sums) {
    __shared__ volatile float values[BLOCK_SIZE];
    int t = threadIdx.x;
    values[t] = in[blockIdx.x * BLOCK_SIZE + t];
    __syncthreads();
    if (t < 32) {
        for (int d = 32; d > 0; d /= 2) {
            values[t] += values[t + d]; // BUG: race
        }
        if (t == 0) sums[blockIdx.x] = values[0];
    }
}

extern "C" __global__ void warp_without_syncwarp_right(const float *in, float *sums) {
    __shared__ volatile float values[BLOCK_SIZE];
    int t = threadIdx.x;
    values[t] = in[blockIdx.x * BLOCK_SIZE + t];
    __syncthreads();
    if (t < 32) {
        for (int d = 32; d > 0; d /= 2) {
            float sum = values[t] + values[t + d];
            __syncwarp();
            values[t] = sum;
            __syncwarp();
        }
        if (t == 0) sums[blockIdx.x] = values[0];
    }
}
