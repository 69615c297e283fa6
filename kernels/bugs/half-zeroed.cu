// Memory set to zero, n bytes instead of n counts. The bug is in the host code: three
// quarters of the counts start with arbitrary values.

#include "cuda_device.h"

extern "C" __global__ void half_zeroed(const int *values, int *counts, int n, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&counts[values[i] % bins], 1); // BUG: init
    }
}
