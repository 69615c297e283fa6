// Rejected at: counters
// Says: required: from 1 056 to 2 048
// The read-only cache suits scattered reads, but each of them is a request for up to 32
// sectors.

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
    if (i >= n) return;
    unsigned int pixel = pixels[i], sum = 0;
    for (int k = 0; k < 4; k++) {
        unsigned int byte = pixel >> 8 * k & 255;
        sum += weights[k] * __ldg(&table[byte]);
    }
    out[i] = sum;
}
