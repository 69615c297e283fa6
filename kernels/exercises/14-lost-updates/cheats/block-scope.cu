// Rejected at: right, checks
// Says: Likely cause: an atomic or an ordered access of block scope
// The atomics of different blocks are not atomic for each other.
#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    if (values[i] > threshold)
        asm volatile("red.cta.global.add.u32 [%0], 1;" ::"l"(&above) : "memory");
}
