// Rejected at: launch
// Says: threads past the end that no `if (i < n)` keeps out
// The thread asks whether it had an element to read, not whether it has one to write.

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
