// Computes the sum of many numbers.
//
// The host sets `total` to 0 before the launch and reads it afterwards. Launched with
// blocks of 256 threads, one thread per number.

#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    // One sum per block, in shared memory.
    __shared__ unsigned int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&sum, numbers[i]);
    __syncthreads();

    if (threadIdx.x == 0) atomicAdd(&total, sum);
}
