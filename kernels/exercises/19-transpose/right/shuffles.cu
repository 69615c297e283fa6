// One warp transposes a tile in registers with shuffles; shared memory is not needed.
#include "cuda_device.h"

#define TILE 32

extern "C" __global__ void __launch_bounds__(1024) transpose(const float *in, float *out, int width,
                                                             int height) {
    if (threadIdx.y != 0) return;
    int lane = threadIdx.x, left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    float rows[TILE];
#pragma unroll
    for (int k = 0; k < TILE; k++) {
        bool inside = left + lane < width && top + k < height;
        rows[k] = inside ? in[(top + k) * width + left + lane] : 0.0f;
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
#pragma unroll
        for (int k = 0; k < TILE; k++) {
            if (k & step) continue;
            bool upper = lane & step;
            float got = __shfl_xor_sync(~0u, upper ? rows[k] : rows[k | step], step);
            if (upper) rows[k] = got;
            else rows[k | step] = got;
        }
    }
#pragma unroll
    for (int k = 0; k < TILE; k++) {
        if (left + k < width && top + lane < height) out[(left + k) * height + top + lane] = rows[k];
    }
}
