// Rejected at: right, checks
// Says: A data race: blocks access the same device memory, and one writes
// A volatile variable is read and written each time, but not atomically.
#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&sum, numbers[i]);
    __syncthreads();
    volatile unsigned int *shared_by_all = &total;
    if (threadIdx.x == 0) *shared_by_all = *shared_by_all + sum;
}
