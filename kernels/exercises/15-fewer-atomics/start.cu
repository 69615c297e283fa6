// Computes the sum of many numbers.
//
// The host sets `total` to 0 before the launch and reads it afterwards. Launched with
// blocks of 256 threads, one thread per number.

#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: add up within the block first, in shared memory.
    if (i < count) atomicAdd(&total, numbers[i]);
}
