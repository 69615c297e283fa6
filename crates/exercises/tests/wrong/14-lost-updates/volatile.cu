// Rejected at: right
// Says: changes a place in device memory that other threads change as well
// `volatile` has every thread read and write memory. Others still do so in between.

#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    if (values[i] > threshold) ++*(volatile unsigned int *)&above;
}
