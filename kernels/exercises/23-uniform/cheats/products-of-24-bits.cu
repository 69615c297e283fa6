// Rejected at: right
// Says: wrong

#include "cuda_device.h"

__constant__ int weights[32];

// The product of the lower 24 bits alone.
extern "C" __global__ void filter(const int *in, int *out, int n) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int k = 0; k < 32; k++) sum += (weights[k] << 8 >> 8) * (in[i + k] << 8 >> 8);
    out[i] = sum;
}
