// Words of row y are rotated by y within the row.
#include "cuda_device.h"

#define TILE 32

__device__ int place(int row, int col) { return TILE * row + (row + col) % TILE; }

extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE * TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) tile[place(threadIdx.x, threadIdx.y)] = in[y * width + x];
    __syncthreads();
    int row = blockIdx.x * TILE + threadIdx.y, col = blockIdx.y * TILE + threadIdx.x;
    if (row < width && col < height) {
        out[row * height + col] = tile[place(threadIdx.y, threadIdx.x)];
    }
}
