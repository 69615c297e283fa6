// Rejected at: checks
// Says: no copy is in flight while
// The next tile has arrived before this one is used, except for the words of two lanes.
#include "async_copy.h"
#define TILE 128
extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    alignas(16) __shared__ float tile[2][TILE];
    const float *own = in + blockIdx.x * tiles * TILE;
    int t = threadIdx.x;
    float sum = 0;
    if (t < 32) { __pipeline_memcpy_async(&tile[0][4 * t], own + 4 * t, 16); __pipeline_commit(); }
    for (int k = 0; k < tiles; ++k) {
        if (t < 32) {
            if (k + 1 < tiles && t < 30) __pipeline_memcpy_async(&tile[(k + 1) % 2][4 * t], own + (k + 1) * TILE + 4 * t, 16);
            __pipeline_commit();
            if (k + 1 < tiles && t >= 30) __pipeline_memcpy_async(&tile[(k + 1) % 2][4 * t], own + (k + 1) * TILE + 4 * t, 16);
            __pipeline_commit();
            __pipeline_wait_prior(1);
        }
        __syncthreads();
        sum += tile[k % 2][TILE - 1 - t];
        __syncthreads();
    }
    out[blockIdx.x * TILE + t] = sum;
}
