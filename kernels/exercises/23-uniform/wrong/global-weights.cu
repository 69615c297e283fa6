// Rejected at: counters
// Says: the variable `weights` is not in constant memory
// There are no constant requests, because the weights are in global memory.

#include "cuda_device.h"

#define BLOCK 128
#define TAPS 32

__device__ int weights[TAPS];

extern "C" __global__ void filter(const int *in, int *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int k = 0; k < TAPS; k++) sum += weights[k] * in[i + k];
    out[i] = sum;
}
