// The next copy starts after all threads have used the tile that it overwrites.
#include "async_copy.h"

// Numbers per tile, and threads per block.
#define TILE 128

// Computes out[b][t] as the sum of number TILE - 1 - t of all tiles of block b.
extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float tile[2][TILE];
    const float *own = in + blockIdx.x * tiles * TILE;
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&tile[0][t], own + (0) * TILE + t, 4);
    __pipeline_commit();
    for (int k = 0; k < tiles; ++k) {
        __pipeline_wait_prior(0);
        __syncthreads();
        if (k + 1 < tiles) __pipeline_memcpy_async(&tile[(k + 1) % 2][t], own + (k + 1) * TILE + t, 4);
        __pipeline_commit();
        sum += tile[k % 2][TILE - 1 - t];
    }
    out[blockIdx.x * TILE + t] = sum;
}
