// Rejected at: right
// Says: too large by the number of values that equal the value they are compared with
// Also counts the values that equal the threshold.
#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && values[i] >= threshold) atomicAdd(&above, 1u);
}
