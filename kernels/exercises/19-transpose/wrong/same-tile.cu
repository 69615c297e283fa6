// Rejected at: right
// Says: A read of uninitialized shared memory
// Each tile is transposed but written to its own location instead of the one across the
// diagonal.

#include "cuda_device.h"

#define TILE 32

extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    if (x < width && y < height) out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}
