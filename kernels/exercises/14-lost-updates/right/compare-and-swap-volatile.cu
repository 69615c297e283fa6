// Adds by compare-and-swap, after a volatile read.
#include "cuda_device.h"
__device__ unsigned int above;
extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count || !(values[i] > threshold)) return;
    unsigned old = *(volatile unsigned *)&above, seen;
    do {
        seen = old;
        old = atomicCAS(&above, seen, seen + 1);
    } while (old != seen);
}