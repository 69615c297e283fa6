// Rejected at: checks
// Says: no copy is in flight while a tile is used
// Waits for each copy right after it was started.
#include "async_copy.h"
#define TILE 128
extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float tile[TILE];
    const float *own = in + blockIdx.x * tiles * TILE;
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < tiles; ++k) {
        __pipeline_memcpy_async(&tile[t], own + k * TILE + t, 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += tile[TILE - 1 - t];
        __syncthreads();
    }
    out[blockIdx.x * TILE + t] = sum;
}
