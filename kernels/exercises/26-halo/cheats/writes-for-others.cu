// Rejected at: checks, right, counters
// Says: A data race: two threads write to one location in an undefined order
// A thread writes another warp's result in an undefined order relative to that warp.
#include "cuda_device.h"

#define BLOCK 128
#define RADIUS 4

extern "C" __global__ void sums(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK + 2 * RADIUS];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    tile[RADIUS + t] = i < n ? in[i] : 0.0f;
    if (t < RADIUS) {
        tile[t] = i >= RADIUS ? in[i - RADIUS] : 0.0f;
        tile[RADIUS + BLOCK + t] = i + BLOCK < n ? in[i + BLOCK] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k <= 2 * RADIUS; k++) sum += tile[t + k];
    if (i + 32 < n && t + 32 < BLOCK) out[i + 32] = -1.0f;
    if (i < n) out[i] = sum;
}
