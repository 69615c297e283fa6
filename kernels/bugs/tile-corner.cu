// A nine-point stencil whose tile loads its four edges but not its four corners. At the
// tile's corners, stale shared memory enters the results.

#include "cuda_device.h"

#define BLOCK_SIZE 16

__device__ __forceinline__ float clamped(const float *in, int n, int x, int y) {
    return in[min(max(y, 0), n - 1) * n + min(max(x, 0), n - 1)];
}

// Computes the mean of each of an image's n x n points and its neighbours, n a multiple of BLOCK_SIZE.
extern "C" __global__ void tile_corner(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK_SIZE + 2][BLOCK_SIZE + 2];
    int x = blockIdx.x * BLOCK_SIZE + threadIdx.x, y = blockIdx.y * BLOCK_SIZE + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = in[y * n + x];
    if (tx == 1) tile[ty][0] = clamped(in, n, x - 1, y);
    if (tx == BLOCK_SIZE) tile[ty][tx + 1] = clamped(in, n, x + 1, y);
    if (ty == 1) tile[0][tx] = clamped(in, n, x, y - 1);
    if (ty == BLOCK_SIZE) tile[ty + 1][tx] = clamped(in, n, x, y + 1);
    __syncthreads();
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            sum += tile[ty + dy][tx + dx]; // BUG: init
        }
    }
    out[y * n + x] = sum / 9.0f;
}

extern "C" __global__ void tile_corner_right(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK_SIZE + 2][BLOCK_SIZE + 2];
    int x = blockIdx.x * BLOCK_SIZE + threadIdx.x, y = blockIdx.y * BLOCK_SIZE + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = in[y * n + x];
    int dx = tx == 1 ? -1 : tx == BLOCK_SIZE ? 1 : 0, dy = ty == 1 ? -1 : ty == BLOCK_SIZE ? 1 : 0;
    if (dx != 0) tile[ty][tx + dx] = clamped(in, n, x + dx, y);
    if (dy != 0) tile[ty + dy][tx] = clamped(in, n, x, y + dy);
    if (dx != 0 && dy != 0) tile[ty + dy][tx + dx] = clamped(in, n, x + dx, y + dy);
    __syncthreads();
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            sum += tile[ty + dy][tx + dx];
        }
    }
    out[y * n + x] = sum / 9.0f;
}
