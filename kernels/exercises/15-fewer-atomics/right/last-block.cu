// The last block sums the partial sums of all blocks after a fence: one atomic per block counts the
// finished blocks.
#include "cuda_device.h"

__device__ unsigned int total;
__device__ unsigned int came;
__device__ volatile unsigned int sums[1 << 16];

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int sum;
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) sum = 0;
    __syncthreads();
    if (i < count) atomicAdd(&sum, numbers[i]);
    __syncthreads();
    if (t == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&came, 1u) == gridDim.x - 1;
        __threadfence();
        sum = 0;
    }
    __syncthreads();
    if (!last) return;
    unsigned int own = 0;
    for (unsigned int block = t; block < gridDim.x; block += blockDim.x) own += sums[block];
    atomicAdd(&sum, own);
    __syncthreads();
    if (t == 0) {
        total = sum;
        came = 0;
    }
}
