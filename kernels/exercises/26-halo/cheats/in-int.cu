// Rejected at: right
// Says: wrong
// Computes in int.
#include "cuda_device.h"
#define BLOCK 128
#define RADIUS 4
extern "C" __global__ void sums(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK + 2 * RADIUS];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    tile[RADIUS + t] = i < n ? in[i] : 0.0f;
    if (t < RADIUS) {
        int l = i - RADIUS, r = i + BLOCK;
        tile[t] = l >= 0 && l < n ? in[l] : 0.0f;
        tile[RADIUS + BLOCK + t] = r < n ? in[r] : 0.0f;
    }
    __syncthreads();
    int sum = 0;
    for (int k = 0; k <= 2 * RADIUS; k++) sum += tile[t + k];
    if (i < n) out[i] = sum;
}
