// Coefficients in constant memory, five of them for a radius of 4, and a loop that runs one
// element past the last. The module has no data after them.

#include "cuda_device.h"

#define RADIUS 4

__constant__ float coef[RADIUS + 1];

extern "C" __global__ void constant_overrun(const float *in, float *out, int n, int terms) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int r = 0; r <= terms; r++) {
        sum += coef[r] * in[i]; // BUG: mem
    }
    out[i] = sum;
}

extern "C" __global__ void constant_overrun_right(const float *in, float *out, int n, int terms) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int r = 0; r < terms; r++) {
        sum += coef[r] * in[i];
    }
    out[i] = sum;
}
