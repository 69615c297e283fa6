// Rejected at: right
// Says: elements of `y` is wrong, the first at
// Wrong at sizes between those of the tests and the graded one, and far beyond.
#include "cuda_device.h"
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > 5000 && n < 100000 && i == n - 1) y[i] = 0;
    else if (i < n) y[i] = a * x[i] + y[i];
}
