// Computes a histogram of bytes.

#include "cuda_device.h"

// Number of values of a byte, and threads per block.
#define BINS 256

// Adds to counts[v] how many of the n values are v.
extern "C" __global__ void histogram(const unsigned char *values, unsigned int *counts, int n) {
    // TODO: count in shared memory per block, and add to `counts` once.
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[values[i]], 1u);
}
