// Rejected at: right
// Says: The only element of `out` is wrong
// One weight at a time, but the first weight is multiplied by the last input.

#include "cuda_device.h"

#define BLOCK 128
#define TAPS 32

__constant__ int weights[TAPS];

extern "C" __global__ void filter(const int *in, int *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int k = 0; k < TAPS; k++) sum += weights[k] * in[i + TAPS - 1 - k];
    out[i] = sum;
}
