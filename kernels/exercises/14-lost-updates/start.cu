// Counts the values above a threshold.
//
// The host sets `above` to 0 before the launch and reads it afterwards. Launched with
// blocks of 256 threads, one thread per value.

#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    // TODO: this loses updates.
    if (values[i] > threshold) above = above + 1;
}
