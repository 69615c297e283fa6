// Threads past the end return at once, before they have loaded their part of the data that
// all threads of the block need. The others read stale shared memory.

#include "cuda_device.h"

#define TERMS 64

// Multiplies a point by each of TERMS coefficients and adds up the products; blocks of TERMS threads.
extern "C" __global__ void early_return(const float *in, const float *coefficients, float *out,
                                        int n) {
    __shared__ float coef[TERMS];
    int t = threadIdx.x, i = blockIdx.x * TERMS + t;
    if (i >= n) return;
    coef[t] = coefficients[t];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < TERMS; k++) {
        sum += coef[k] * in[i]; // BUG: init
    }
    out[i] = sum;
}

extern "C" __global__ void early_return_right(const float *in, const float *coefficients,
                                              float *out, int n) {
    __shared__ float coef[TERMS];
    int t = threadIdx.x, i = blockIdx.x * TERMS + t;
    coef[t] = coefficients[t];
    __syncthreads();
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < TERMS; k++) {
        sum += coef[k] * in[i];
    }
    out[i] = sum;
}
