// Rejected at: counters
// Says: constant requests: 131 072, required: at most 4 096
// The loop runs over the weights, but every thread starts with a different one.

#include "cuda_device.h"

#define BLOCK 128
#define TAPS 32

__constant__ int weights[TAPS];

extern "C" __global__ void filter(const int *in, int *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int j = 0; j < TAPS; j++) {
        int k = (j + threadIdx.x) % TAPS;
        sum += weights[k] * in[i + k];
    }
    out[i] = sum;
}
