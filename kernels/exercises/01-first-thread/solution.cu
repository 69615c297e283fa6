// Computes y = a x + y, one thread per element.
//
// The blocks before this one have blockIdx.x * blockDim.x threads and process as many elements.

#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
