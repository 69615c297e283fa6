// Rejected at: right, checks
// Says: Likely cause: an atomic or an ordered access of block scope
// The atomics of different blocks are not atomic for each other.
#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&sum, numbers[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("red.cta.global.add.u32 [%0], %1;" ::"l"(&total), "r"(sum) : "memory");
}
