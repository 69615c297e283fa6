// One thread, one element: y = a x + y.
//
// The blocks before this one have blockIdx.x * blockDim.x threads, and as many elements are theirs.

#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
