// A block reverses its part of an array in shared memory, and reads it before all threads
// have written. A thread of one warp reads an element that another warp has not stored yet.

#include "cuda_device.h"

#define BLOCK_SIZE 256

extern "C" __global__ void load_without_barrier(float *data) {
    __shared__ float tile[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    tile[t] = data[i]; // with this
    data[i] = tile[BLOCK_SIZE - 1 - t]; // BUG: race
}

extern "C" __global__ void load_without_barrier_right(float *data) {
    __shared__ float tile[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    tile[t] = data[i];
    __syncthreads();
    data[i] = tile[BLOCK_SIZE - 1 - t];
}
