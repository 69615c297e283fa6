// Rejected at: launch
// Says: threads past the end that no `if (i < n)` keeps out
// The threads to spare in the last block write past the end.

#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}
