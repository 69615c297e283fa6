// Rejected at: counters
// Says: share of the limit
// The block loads its numbers coalesced, but then each thread sums a contiguous range: its words
// conflict, and its results are written at a stride.

#include "cuda_device.h"

// Threads per block, and results per thread.
#define BLOCK 256
#define POINTS 8
// Number of terms of a sum.
#define WIDTH 9

// Computes out[i] = in[i] + ... + in[i + WIDTH - 1] for i < n; `in` has n + WIDTH - 1
// elements. A block computes BLOCK * POINTS results. Both arrays are aligned to 256 bytes.
extern "C" __global__ void sums(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK * POINTS + WIDTH - 1];
    int first = blockIdx.x * BLOCK * POINTS;
    for (int k = threadIdx.x; k < BLOCK * POINTS + WIDTH - 1; k += BLOCK) {
        if (first + k < n + WIDTH - 1) tile[k] = in[first + k];
    }
    __syncthreads();
    for (int p = 0; p < POINTS; p++) {
        int place = threadIdx.x * POINTS + p, i = first + place;
        if (i >= n) return;
        float sum = 0.0f;
        for (int k = 0; k < WIDTH; k++) sum += tile[place + k];
        out[i] = sum;
    }
}
