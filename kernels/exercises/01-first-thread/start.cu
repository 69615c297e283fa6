// Computes y = a x + y, one thread per element.
//
// The launch has blocks of 128 threads, and as many blocks as n elements need.

#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    // TODO: this is the thread's index in its block. Compute its index in the whole grid.
    unsigned int i = threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
