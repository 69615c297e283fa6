// A table is allocated for a pointer in a variable of the module. The variable is freed with
// the module, the memory that it points to is not. The bug is in the host code:
//
//     float *values;
//     cudaMalloc(&values, n * sizeof(float)); // BUG: leak
//     cudaMemcpyToSymbol(lookup, &values, sizeof(values));

#include "cuda_device.h"

__device__ const float *lookup;

extern "C" __global__ void leak_pointed_to(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = lookup[i];
}
