// A pointer in a variable of the module, and the host frees what it points to and does not say
// so. The mistake is the host's: it sets the variable again in time, or it does not.

#include "cuda_device.h"

__device__ float *table;

extern "C" __global__ void stale_symbol(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = table[i]; // BUG: mem
    }
}
