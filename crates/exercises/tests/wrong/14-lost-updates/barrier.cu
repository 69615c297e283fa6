// Rejected at: right
// Says: changes a place in device memory that other threads change as well
// A barrier has the threads of a block wait for each other, and then they all add at once.

#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool counts = i < count && values[i] > threshold;
    __syncthreads();
    if (counts) above = above + 1;
    __syncthreads();
}
