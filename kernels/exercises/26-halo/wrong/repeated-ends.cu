// Rejected at: right
// Says: The only element of `out` is wrong
// The points at the ends are repeated beyond them instead of zeros.

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
    tile[RADIUS + t] = in[min(i, n - 1)];
    if (t < RADIUS) {
        tile[t] = in[min(max(i - RADIUS, 0), n - 1)];
        tile[RADIUS + BLOCK + t] = in[min(i + BLOCK, n - 1)];
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k <= 2 * RADIUS; k++) sum += tile[t + k];
    out[i] = sum;
}
