// Rejected at: right
// Says: updates a location of device memory that other threads update too
// Only the write is atomic. The value was read before and may be out of date.

#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    if (values[i] > threshold) atomicExch(&above, above + 1);
}
