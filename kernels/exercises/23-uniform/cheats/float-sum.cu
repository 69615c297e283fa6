// Rejected at: right
// Says: wrong
// Adds up in float, which has 24 bits.
#include "cuda_device.h"
#define BLOCK 128
#define TAPS 32
__constant__ int weights[TAPS];
extern "C" __global__ void filter(const int *in, int *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < TAPS; k++) sum += (float)weights[k] * in[i + k];
    out[i] = (int)sum;
}
