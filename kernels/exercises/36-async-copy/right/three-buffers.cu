#include "async_copy.h"

// Numbers per tile, and threads per block.
#define TILE 128

// Computes out[b][t] as the sum of number TILE - 1 - t of all tiles of block b.
extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float tile[3][TILE];
    const float *own = in + blockIdx.x * tiles * TILE;
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 2; ++k) {
        if (k < tiles) __pipeline_memcpy_async(&tile[k][t], own + (k) * TILE + t, 4);
        __pipeline_commit();
    }
    for (int k = 0; k < tiles; ++k) {
        __pipeline_wait_prior(1);
        __syncthreads();
        if (k + 2 < tiles) __pipeline_memcpy_async(&tile[(k + 2) % 3][t], own + (k + 2) * TILE + t, 4);
        __pipeline_commit();
        sum += tile[k % 3][TILE - 1 - t];
    }
    out[blockIdx.x * TILE + t] = sum;
}
