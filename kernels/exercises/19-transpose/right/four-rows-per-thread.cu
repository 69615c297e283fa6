// A quarter of the threads process four rows each, like a block of 32 by 8.
#include "cuda_device.h"

#define TILE 32

extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    if (ty < 8) {
        for (int row = ty; row < TILE; row += 8) {
            if (left + tx < width && top + row < height) {
                tile[row][tx] = in[(top + row) * width + left + tx];
            }
        }
    }
    __syncthreads();
    if (ty >= 8) return;
    for (int row = ty; row < TILE; row += 8) {
        if (left + row < width && top + tx < height) {
            out[(left + row) * height + top + tx] = tile[tx][row];
        }
    }
}
