// How many values are above a threshold?
//
// The host sets `above` to 0 before the launch and reads it after. Launched with blocks of
// 256 threads, one thread a value.

#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    // Reads, adds and writes in one go: nobody comes in between.
    if (values[i] > threshold) atomicAdd(&above, 1u);
}
