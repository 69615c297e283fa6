// Rejected at: right
// Says: A read of uninitialized shared memory
// The halo is loaded correctly, but threads past the end still return before they have stored zeros.

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
    if (i >= n) return;
    tile[RADIUS + t] = in[i];
    if (t < RADIUS) {
        tile[t] = i >= RADIUS ? in[i - RADIUS] : 0.0f;
        tile[RADIUS + BLOCK + t] = i + BLOCK < n ? in[i + BLOCK] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k <= 2 * RADIUS; k++) sum += tile[t + k];
    out[i] = sum;
}
