// Rejected at: right
// Says: the kernel writes to its input `x` and restores the values
// Passes the result through the input.
#include "cuda_device.h"
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    volatile float *scratch = (volatile float *)x;
    float before = x[i];
    scratch[i] = a * before + y[i];
    y[i] = scratch[i];
    scratch[i] = before;
}
