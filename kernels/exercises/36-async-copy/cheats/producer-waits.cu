// Rejected at: checks
// Says: no copy is in flight while
// The last warp copies each tile and waits for it before the others use it.
#include "async_copy.h"
#define TILE 128
extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    alignas(16) __shared__ float tile[TILE];
    const float *own = in + blockIdx.x * tiles * TILE;
    int t = threadIdx.x;
    float sum = 0, other = 0;
    for (int k = 0; k < tiles; ++k) {
        if (t >= 96) {
            __pipeline_memcpy_async(&tile[4 * (t - 96)], own + k * TILE + 4 * (t - 96), 16);
            __pipeline_commit();
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        if (t < 96) sum += tile[TILE - 1 - t];
        if (t < 32) other += tile[TILE - 1 - 96 - t];
        __syncthreads();
    }
    if (t < 96) out[blockIdx.x * TILE + t] = sum;
    if (t < 32) out[blockIdx.x * TILE + 96 + t] = other;
}
