// A barrier in a loop that some threads leave earlier than others. The remaining threads
// wait at the barrier for threads that never arrive again.

#include "cuda_device.h"

#define BLOCK_SIZE 64

// Adds up the columns of a triangle: column t has t / 2 + 1 rows.
extern "C" __global__ void rounds_differ(const float *in, float *out) {
    __shared__ float row[BLOCK_SIZE];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int r = 0; r <= t / 2; r++) {
        row[t] = in[r * BLOCK_SIZE + t];
        __syncthreads(); // BUG: sync
        sum += row[t];
    }
    out[t] = sum;
}

extern "C" __global__ void rounds_differ_right(const float *in, float *out) {
    __shared__ float row[BLOCK_SIZE];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int r = 0; r <= BLOCK_SIZE / 2; r++) {
        row[t] = in[r * BLOCK_SIZE + t];
        __syncthreads();
        if (r <= t / 2) sum += row[t];
        __syncthreads();
    }
    out[t] = sum;
}
