// The tile is transposed when it is written instead of when it is read.
#include "cuda_device.h"

#define TILE 32

extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE * TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) tile[TILE * threadIdx.x + threadIdx.y] = __ldg(in + y * width + x);
    __syncthreads();
    int row = blockIdx.x * TILE + threadIdx.y, col = blockIdx.y * TILE + threadIdx.x;
    if (row < width && col < height) out[row * height + col] = tile[TILE * threadIdx.y + threadIdx.x];
}
