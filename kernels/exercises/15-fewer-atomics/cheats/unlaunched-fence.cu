// Rejected at: right, checks
// Says: A data race: blocks access the same device memory, and one writes
// A fence in a kernel that is never launched.
#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void never_launched() { __threadfence(); }

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&sum, numbers[i]);
    __syncthreads();
    if (threadIdx.x == 0) total += sum;
}
