// Rejected at: counters
// Says: is not in constant memory
// A comment in inline assembly declares the weights in constant memory.
#include "cuda_device.h"
#define BLOCK 256
__device__ unsigned int weights[4];
extern "C" __global__ void brightness(const unsigned int *pixels, const unsigned int *table, unsigned int *out, int n) {
    asm volatile("// .const weights");
    __shared__ unsigned int copy[BLOCK], w[4];
    if (blockIdx.x % 2) return;
    int i = blockIdx.x * BLOCK + threadIdx.x;
    copy[threadIdx.x] = table[threadIdx.x];
    if (threadIdx.x < 4) w[threadIdx.x] = weights[threadIdx.x];
    __syncthreads();
    for (; i < n && i < (blockIdx.x + 2) * BLOCK; i += BLOCK) {
        unsigned int pixel = pixels[i], sum = 0;
        for (int k = 0; k < 4; k++) sum += w[k] * copy[pixel >> 8 * k & 255];
        out[i] = sum;
    }
}
