// Rejected at: right
// Says: updates a location of device memory that other threads update too
// The threads of a block wait at a barrier, but then all add at the same time.

#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool counts = i < count && values[i] > threshold;
    __syncthreads();
    if (counts) above = above + 1;
    __syncthreads();
}
