// Every block adds its sum to one number in global memory with `+=`. If two blocks read the
// same number, one update overwrites the other (a lost update).

#include "cuda_device.h"

// Returns the sum of a warp's values in lane 0.
__device__ __forceinline__ float warp_sum(float value) {
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
    return value;
}

// Blocks of one warp.
extern "C" __global__ void sum_without_atomics(const float *in, float *total) {
    float sum = warp_sum(in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        *total += sum; // BUG: race
    }
}

extern "C" __global__ void sum_without_atomics_right(const float *in, float *total) {
    float sum = warp_sum(in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        atomicAdd(total, sum);
    }
}
