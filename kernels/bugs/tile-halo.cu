// A nine-point stencil along a line that loads only the left half of its halo. The last
// threads of each block read uninitialized shared memory.

#include "cuda_device.h"

#define RADIUS 4
#define BLOCK_SIZE 64

// Expects RADIUS further points on either side of `in`.
extern "C" __global__ void tile_halo(const float *in, float *out) {
    __shared__ float tile[BLOCK_SIZE + 2 * RADIUS];
    int i = blockIdx.x * BLOCK_SIZE + threadIdx.x, t = threadIdx.x + RADIUS;
    tile[t] = in[i + RADIUS];
    if (threadIdx.x < RADIUS) {
        tile[threadIdx.x] = in[i];
    }
    __syncthreads();
    float sum = 0.0f;
    for (int r = 1; r <= RADIUS; r++) {
        sum += tile[t + r] - tile[t - r]; // BUG: init
    }
    out[i] = sum;
}

extern "C" __global__ void tile_halo_right(const float *in, float *out) {
    __shared__ float tile[BLOCK_SIZE + 2 * RADIUS];
    int i = blockIdx.x * BLOCK_SIZE + threadIdx.x, t = threadIdx.x + RADIUS;
    tile[t] = in[i + RADIUS];
    if (threadIdx.x < RADIUS) {
        tile[threadIdx.x] = in[i];
        tile[t + BLOCK_SIZE] = in[i + RADIUS + BLOCK_SIZE];
    }
    __syncthreads();
    float sum = 0.0f;
    for (int r = 1; r <= RADIUS; r++) {
        sum += tile[t + r] - tile[t - r];
    }
    out[i] = sum;
}
