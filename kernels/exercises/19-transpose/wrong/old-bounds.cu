// Rejected at: launch
// Says: no `if (i < n)` that excludes threads past the end
// The bounds check is that of the element read, not of the element written.

#include "cuda_device.h"

#define TILE 32

extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    bool inside = x < width && y < height;
    if (inside) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.x * TILE + threadIdx.y;
    y = blockIdx.y * TILE + threadIdx.x;
    if (inside) out[x * height + y] = tile[threadIdx.x][threadIdx.y];
}
