// Memory set to zero, n bytes of it, where n counts are meant. The mistake is the host's: three
// quarters of the counts start with whatever was there.

#include "cuda_device.h"

extern "C" __global__ void half_zeroed(const int *values, int *counts, int n, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&counts[values[i] % bins], 1); // BUG: init
    }
}
