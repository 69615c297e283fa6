// A tile smoothed in place: a thread overwrites its point while neighbours may still need
// the old value. The result must wait in a register until all threads have read.

#include "cuda_device.h"

#define BLOCK_SIZE 128

extern "C" __global__ void smooth_in_place(float *data) {
    __shared__ float tile[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    tile[t] = data[i];
    __syncthreads();
    if (t > 0 && t < BLOCK_SIZE - 1) {
        tile[t] = (tile[t - 1] + tile[t] + tile[t + 1]) / 3.0f; // BUG: race
    }
    __syncthreads();
    data[i] = tile[t];
}

extern "C" __global__ void smooth_in_place_right(float *data) {
    __shared__ float tile[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    tile[t] = data[i];
    __syncthreads();
    float smooth = tile[t];
    if (t > 0 && t < BLOCK_SIZE - 1) {
        smooth = (tile[t - 1] + tile[t] + tile[t + 1]) / 3.0f;
    }
    __syncthreads();
    tile[t] = smooth;
    __syncthreads();
    data[i] = tile[t];
}
