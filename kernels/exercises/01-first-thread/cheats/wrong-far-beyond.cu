// Rejected at: right
// Says: elements of `y` are wrong
// Does nothing for more than 150 000 elements.
#include "cuda_device.h"
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > 150000) return;
    if (i < n) y[i] = a * x[i] + y[i];
}
