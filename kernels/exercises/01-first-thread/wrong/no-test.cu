// Rejected at: launch
// Says: no `if (i < n)` that excludes threads past the end
// The surplus threads of the last block write past the end.

#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}
