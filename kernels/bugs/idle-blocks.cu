// A sum in two launches, the first with more blocks than there is work for. Blocks without
// work return at once and write no sum, but the second launch adds up the sums of all blocks.

#include "cuda_device.h"

#define BLOCK_SIZE 64

// Returns the sum of a block's values.
__device__ __forceinline__ float block_sum(float value) {
    __shared__ float values[BLOCK_SIZE];
    int t = threadIdx.x;
    values[t] = value;
    __syncthreads();
    for (int d = BLOCK_SIZE / 2; d > 0; d /= 2) {
        if (t < d) values[t] += values[t + d];
        __syncthreads();
    }
    return values[0];
}

extern "C" __global__ void idle_blocks(const float *in, float *partial, int n) {
    if (blockIdx.x * BLOCK_SIZE >= n) return;
    int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    float sum = block_sum(i < n ? in[i] : 0.0f);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void idle_blocks_right(const float *in, float *partial, int n) {
    int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    float sum = block_sum(i < n ? in[i] : 0.0f);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// Adds up the partial sums in a second launch of one block.
extern "C" __global__ void sum_of_sums(const float *partial, float *total, int blocks) {
    float value = threadIdx.x < blocks ? partial[threadIdx.x] : 0.0f; // BUG: init
    float sum = block_sum(value);
    if (threadIdx.x == 0) *total = sum;
}
