// Rejected at: checks
// Says: no copy is in flight while this tile is used

#include "async_copy.h"

#define TILE 128

extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float tile[2][TILE];
    const float *own = in + blockIdx.x * tiles * TILE;
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&tile[0][t], own + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles)
            __pipeline_memcpy_async(&tile[(k + 1) % 2][t], own + (k + 1) * TILE + t, 4);
        __pipeline_commit();
        // This also waits for the tile whose copy has just started.
        __pipeline_wait_prior(0);
        sum += tile[k % 2][TILE - 1 - t];
        __syncthreads();
    }
    out[blockIdx.x * TILE + t] = sum;
}
