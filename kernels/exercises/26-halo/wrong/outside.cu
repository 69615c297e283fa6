// Rejected at: launch
// Says: no `if (i < n)` that excludes threads past the end
// Correct in the middle, but at the ends the halo is read from outside the array.

#include "cuda_device.h"

// Threads per block.
#define BLOCK 128
// Points on either side that a sum includes.
#define RADIUS 4

// Computes out[i] = in[i - RADIUS] + ... + in[i + RADIUS] for i < n; points
// outside the array count as 0.
extern "C" __global__ void sums(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK + 2 * RADIUS];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    tile[RADIUS + t] = in[i];
    if (t < RADIUS) {
        tile[t] = in[i - RADIUS];
        tile[RADIUS + BLOCK + t] = in[i + BLOCK];
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k <= 2 * RADIUS; k++) sum += tile[t + k];
    out[i] = sum;
}
