// One of two inputs is never copied to the device. The bug is in the host code:
// memory is allocated for both.

#include "cuda_device.h"

extern "C" __global__ void copy_forgotten(const float *x, const float *y, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 3.0f * x[i] + y[i]; // BUG: init
    }
}
