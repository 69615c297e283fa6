// Memory for n bytes, where n floats are meant. The mistake is the host's: it asked for a
// quarter of what the kernel writes.

#include "cuda_device.h"

extern "C" __global__ void sizeof_forgotten(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = i; // BUG: mem
    }
}
