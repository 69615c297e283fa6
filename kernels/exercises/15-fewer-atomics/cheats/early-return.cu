// Rejected at: checks
// Says: A barrier that not all threads of the block reach: some have exited
// Threads without a number exit before the others reach a barrier.
#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int sum;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, numbers[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&total, sum);
}
