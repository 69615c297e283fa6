// The bounds check uses `<=` instead of `<`. One thread works on element n, the
// first one past the arrays.

#include "cuda_device.h"

extern "C" __global__ void less_or_equal(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        out[i] = 2.0f * in[i]; // BUG: mem
    }
}

extern "C" __global__ void less_or_equal_right(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 2.0f * in[i];
    }
}
