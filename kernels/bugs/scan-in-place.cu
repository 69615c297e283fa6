// An inclusive scan in one array: each step reads a neighbour's element and overwrites its
// own, with one barrier per step. A second barrier is needed between the read and the write.

#include "cuda_device.h"

#define BLOCK_SIZE 128

extern "C" __global__ void scan_in_place(const float *in, float *out) {
    __shared__ float sums[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    sums[t] = in[i];
    __syncthreads();
    for (int d = 1; d < BLOCK_SIZE; d *= 2) {
        if (t >= d) {
            sums[t] += sums[t - d]; // BUG: race
        }
        __syncthreads();
    }
    out[i] = sums[t];
}

extern "C" __global__ void scan_in_place_right(const float *in, float *out) {
    __shared__ float sums[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    sums[t] = in[i];
    __syncthreads();
    for (int d = 1; d < BLOCK_SIZE; d *= 2) {
        float before = t >= d ? sums[t - d] : 0.0f;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    out[i] = sums[t];
}
