// Rejected at: time
// Says: times the solution's time
// Each warp prints a number.
#include "cuda_device.h"
#include <stdio.h>
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 32 == 0) printf("%d\n", i);
    if (i < n) y[i] = a * x[i] + y[i];
}
