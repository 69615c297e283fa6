// Computes the brightness of pixels. The four weights are in constant memory because all threads read
// the same weight at a time; the table is in shared memory because each thread reads a different entry.

#include "cuda_device.h"

// Threads per block, and entries of the table.
#define BLOCK 256

// Weight of each of a pixel's four bytes.
__constant__ unsigned int weights[4];

// Sums a pixel's four bytes, each looked up in a table and weighted. The host passes the table
// in global memory; it also copies it to a __constant__ array `constant_table` if there is one.
extern "C" __global__ void brightness(const unsigned int *pixels, const unsigned int *table,
                                      unsigned int *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    // A block has as many threads as the table has entries.
    __shared__ unsigned int copy[BLOCK];
    copy[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    if (i >= n) return;
    unsigned int pixel = pixels[i], sum = 0;
    for (int k = 0; k < 4; k++) {
        unsigned int byte = pixel >> 8 * k & 255;
        sum += weights[k] * copy[byte];
    }
    out[i] = sum;
}
