// Rejected at: right, checks
// Says: The only element of `above` is wrong
// A thread proceeds after some attempts even if it did not get the lock.
#include "cuda_device.h"

__device__ unsigned int above;
__device__ int lock = 0;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int here = __syncthreads_count(i < count && values[i] > threshold);
    if (threadIdx.x != 0 || here == 0) return;
    for (int k = 0; k < 50 && atomicCAS(&lock, 0, 1) != 0; k++) {
    }
    volatile unsigned int *locked = &above;
    *locked = *locked + here;
    __threadfence();
    atomicExch(&lock, 0);
}
