// Computes the brightness of pixels, with four weights that all threads use in the same
// order, and a table of 256 numbers of which every thread reads different entries.

#include "cuda_device.h"

// Threads per block, and entries of the table.
#define BLOCK 256

// Weight of each of a pixel's four bytes.
__constant__ unsigned int weights[4];

// The table, in constant memory.
__constant__ unsigned int constant_table[BLOCK];

// Sums a pixel's four bytes, each looked up in a table and weighted. The host passes the table
// in global memory; it also copies it to a __constant__ array `constant_table` if there is one.
extern "C" __global__ void brightness(const unsigned int *pixels, const unsigned int *table,
                                      unsigned int *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    unsigned int pixel = pixels[i], sum = 0;
    // TODO: is constant memory the right memory for both? The table may be stored elsewhere.
    for (int k = 0; k < 4; k++) {
        unsigned int byte = pixel >> 8 * k & 255;
        sum += weights[k] * constant_table[byte];
    }
    out[i] = sum;
}
