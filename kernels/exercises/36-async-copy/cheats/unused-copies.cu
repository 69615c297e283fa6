// Rejected at: counters
// Says: global load sectors: 8 192, required: exactly 4 096
// Every number is copied asynchronously but then read from global memory again.
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
        // The next tile (in the end an empty group) is in flight, and this one has arrived.
        if (k + 1 < tiles) __pipeline_memcpy_async(&tile[(k + 1) % 2][t], own + (k + 1) * TILE + t, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += own[k * TILE + TILE - 1 - t];
        __syncthreads();
    }
    out[blockIdx.x * TILE + t] = sum;
}
