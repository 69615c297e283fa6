// A pointer in a variable of the module; the host frees the memory that it points to but does
// not update the pointer. The bug is in the host code: it must set the variable again in time.

#include "cuda_device.h"

__device__ float *table;

extern "C" __global__ void stale_symbol(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = table[i]; // BUG: mem
    }
}
