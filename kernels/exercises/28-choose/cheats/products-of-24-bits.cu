// Rejected at: right
// Says: elements of `out` are wrong

#include "cuda_device.h"

__constant__ unsigned int weights[4];

// The product of the lower 24 bits alone.
extern "C" __global__ void brightness(const unsigned int *pixels, const unsigned int *table,
                                      unsigned int *out, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    __shared__ unsigned int copy[256];
    copy[threadIdx.x] = table[threadIdx.x] & 0xffffff;
    __syncthreads();
    if (i >= n) return;
    unsigned int pixel = pixels[i], sum = 0;
    for (int k = 0; k < 4; k++) sum += (weights[k] & 0xffffff) * copy[pixel >> 8 * k & 255];
    out[i] = sum;
}
