// A block turns its part of an array round in shared memory, and reads before all have written.
// A thread of one warp gets what another warp has not put there yet.

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
