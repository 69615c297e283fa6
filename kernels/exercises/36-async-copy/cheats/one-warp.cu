// Rejected at: checks
// Says: no copy is in flight while a tile is used
// One warp does the work of sixteen.
#include "async_copy.h"
#define TILE 128
extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float tile[2][TILE];
    int t = threadIdx.x;
    if (blockIdx.x || t >= 32) return;
    for (int b = 0; b < 4; b++) {
        const float *own = in + b * tiles * TILE;
        float sum[4] = {0, 0, 0, 0};
        for (int k = 0; k < tiles; ++k) {
            for (int j = 0; j < 4; j++)
                __pipeline_memcpy_async(&tile[0][t + 32 * j], own + k * TILE + t + 32 * j, 4);
            __pipeline_commit();
            __pipeline_wait_prior(0);
            __syncwarp();
            for (int j = 0; j < 4; j++) sum[j] += tile[0][TILE - 1 - t - 32 * j];
            __syncwarp();
        }
        for (int j = 0; j < 4; j++) out[b * TILE + t + 32 * j] = sum[j];
    }
}
