// A barrier in a branch that half of every warp takes. The halves of a warp arrive at
// different barriers, and read data that the other half has not written yet.

#include "cuda_device.h"

#define BLOCK_SIZE 64

extern "C" __global__ void half_a_warp(const float *in, float *out) {
    __shared__ float tile[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    tile[t] = in[i];
    float other = 0.0f;
    if (t % 32 < 16) {
        __syncthreads(); // BUG: sync
        other = tile[BLOCK_SIZE - 1 - t];
    }
    out[i] = tile[t] + other;
}

extern "C" __global__ void half_a_warp_right(const float *in, float *out) {
    __shared__ float tile[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    tile[t] = in[i];
    float other = 0.0f;
    __syncthreads();
    if (t % 32 < 16) {
        other = tile[BLOCK_SIZE - 1 - t];
    }
    out[i] = tile[t] + other;
}
