// Rejected at: right
// Says: accesses one location of device memory from different blocks
// Uses the number of blocks instead of threads: correct only if both are equal.

#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * gridDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
