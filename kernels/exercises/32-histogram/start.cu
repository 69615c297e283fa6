// How often each byte occurs.

#include "cuda_device.h"

// Values of a byte, and threads of a block.
#define BINS 256

// Adds to counts[v] how many of the n values are v.
extern "C" __global__ void histogram(const unsigned char *values, unsigned int *counts, int n) {
    // TODO: let a block count in shared memory, and add to `counts` once.
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[values[i]], 1u);
}
