// Rejected at: time
// Says: times the solution's time
// One warp in one block of four does the work of sixteen.
#include "cuda_device.h"
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    if (blockIdx.x % 4 || threadIdx.x >= 32) return;
    for (unsigned int k = threadIdx.x; k < 512; k += 32) {
        unsigned int i = blockIdx.x * 128 + k;
        if (i < n) y[i] = a * x[i] + y[i];
    }
}
