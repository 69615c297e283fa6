// Rejected at: right
// Says: 3 of the 127 elements of `out` are wrong
// Zeros past the end, but the right halo still consists of the block's own points.

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
    tile[RADIUS + t] = i < n ? in[i] : 0.0f;
    if (t < RADIUS) {
        tile[t] = i >= RADIUS && i - RADIUS < n ? in[i - RADIUS] : 0.0f;
        tile[RADIUS + BLOCK + t] = i + RADIUS < n ? in[i + RADIUS] : 0.0f;
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k <= 2 * RADIUS; k++) sum += tile[t + k];
    out[i] = sum;
}
