// Double buffering: one tile is read while the other is filled, so one barrier per iteration suffices.
// This kernel has one in every second iteration only, and in the others reads data not yet written.

#include "cuda_device.h"

#define BLOCK_SIZE 128

extern "C" __global__ void double_buffer(const float *in, float *out, int rounds) {
    __shared__ float tiles[2][BLOCK_SIZE];
    int t = threadIdx.x, other = BLOCK_SIZE - 1 - t;
    tiles[0][t] = in[t];
    __syncthreads();
    float sum = 0.0f;
    for (int r = 0; r < rounds; r++) {
        if (r + 1 < rounds) {
            tiles[(r + 1) % 2][t] = in[(r + 1) * BLOCK_SIZE + t]; // with this
        }
        sum += tiles[r % 2][other]; // BUG: race
        if (r % 2 == 1) __syncthreads();
    }
    out[t] = sum;
}

extern "C" __global__ void double_buffer_right(const float *in, float *out, int rounds) {
    __shared__ float tiles[2][BLOCK_SIZE];
    int t = threadIdx.x, other = BLOCK_SIZE - 1 - t;
    tiles[0][t] = in[t];
    __syncthreads();
    float sum = 0.0f;
    for (int r = 0; r < rounds; r++) {
        if (r + 1 < rounds) {
            tiles[(r + 1) % 2][t] = in[(r + 1) * BLOCK_SIZE + t];
        }
        sum += tiles[r % 2][other];
        __syncthreads();
    }
    out[t] = sum;
}
