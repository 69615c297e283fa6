// Memory for n bytes instead of n floats. The bug is in the host code: it allocates a
// quarter of what the kernel writes.

#include "cuda_device.h"

extern "C" __global__ void sizeof_forgotten(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = i; // BUG: mem
    }
}
