// Rejected at: checks
// Says: A data race: blocks access the same device memory, and one writes
// One sum per block, added by one thread, but other blocks add at the same time.

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

    if (threadIdx.x == 0) total = total + sum;
}
