// Rejected at: checks
// Says: A barrier that not all threads of the block reach: some have exited
// Threads without a pixel copy their entry but exit before the barrier.
#include "cuda_device.h"

__constant__ unsigned int weights[4];

extern "C" __global__ void brightness(const unsigned int *pixels, const unsigned int *table,
                                      unsigned int *out, int n) {
    __shared__ unsigned int copy[256];
    copy[threadIdx.x] = table[threadIdx.x];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    __syncthreads();
    unsigned int pixel = pixels[i], sum = 0;
    for (int k = 0; k < 4; k++) sum += weights[k] * copy[pixel >> 8 * k & 255];
    out[i] = sum;
}
