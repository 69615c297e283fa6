// Rejected at: time
// Says: one thread, one warp of a block
// One thread adds up the 256 numbers that its block put into shared memory.
#include "cuda_device.h"
__device__ unsigned int total;
extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < count ? numbers[i] : 0;
    __syncthreads();
    if (t != 0) return;
    unsigned int sum = 0;
    for (int k = 0; k < 256; k++) sum += s[k];
    atomicAdd(&total, sum);
}
