// Rejected at: checks
// Says: no copy is in flight while
// Block 0 does the work of all blocks.
#include "async_copy.h"
#define TILE 128
extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float tile[2][TILE];
    if (blockIdx.x) return;
    for (int b = 0; b < 4; b++) {
        const float *own = in + b * tiles * TILE;
        int t = threadIdx.x;
        float sum = 0;
        __pipeline_memcpy_async(&tile[0][t], own + t, 4);
        __pipeline_commit();
        for (int k = 0; k < tiles; ++k) {
            if (k + 1 < tiles)
                __pipeline_memcpy_async(&tile[(k + 1) % 2][t], own + (k + 1) * TILE + t, 4);
            __pipeline_commit();
            __pipeline_wait_prior(1);
            __syncthreads();
            sum += tile[k % 2][TILE - 1 - t];
            __syncthreads();
        }
        out[b * TILE + t] = sum;
    }
}
