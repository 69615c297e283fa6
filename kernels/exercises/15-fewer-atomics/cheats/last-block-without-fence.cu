// Rejected at: checks, right
// Says: A data race: blocks access the same device memory, and one writes
// The last block sums the partial sums of all blocks, but no fence makes them visible.
#include "cuda_device.h"

__device__ unsigned int total;
__device__ unsigned int came;
__device__ unsigned int sums[1 << 16];

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&sum, numbers[i]);
    __syncthreads();
    if (threadIdx.x != 0) return;
    sums[blockIdx.x] = sum;
    if (atomicAdd(&came, 1u) != gridDim.x - 1) return;
    unsigned int all = 0;
    for (unsigned int block = 0; block < gridDim.x; block++) all += sums[block];
    total = all;
    came = 0;
}
