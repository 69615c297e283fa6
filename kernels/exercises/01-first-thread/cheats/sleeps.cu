// Rejected at: time
// Says: times the solution's time
// Each thread sleeps for a millisecond.
#include "cuda_device.h"
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    asm volatile("nanosleep.u32 1000000;");
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
