// Rejected at: right
// Says: uses one place in device memory from different blocks
// Number of blocks for number of threads: right only while both are alike.

#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * gridDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
