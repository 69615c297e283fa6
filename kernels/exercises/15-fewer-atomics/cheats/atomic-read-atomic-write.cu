// Rejected at: right, checks, counters
// Says: A data race: blocks access the same device memory, and one writes
// Each half of the update is atomic, but the update is not.
#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&sum, numbers[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(&total, atomicAdd(&total, 0u) + sum);
}
