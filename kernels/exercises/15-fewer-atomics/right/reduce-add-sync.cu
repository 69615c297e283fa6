// A warp adds up by __reduce_add_sync.
#include <cuda_runtime.h>
__device__ unsigned int total;
extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int block_total;
    if (!threadIdx.x) block_total = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int w = __reduce_add_sync(~0u, i < count ? numbers[i] : 0);
    if ((threadIdx.x & 31) == 0) atomicAdd(&block_total, w);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&total, block_total);
}
