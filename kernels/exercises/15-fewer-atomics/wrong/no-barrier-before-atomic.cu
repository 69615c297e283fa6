// Rejected at: right
// Says: A data race: a write to data that another thread may not have read yet
// Does not wait for the other warps before adding the block's sum.

#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    // One sum per block, in shared memory.
    __shared__ unsigned int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&sum, numbers[i]);

    if (threadIdx.x == 0) atomicAdd(&total, sum);
}
