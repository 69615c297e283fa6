// Rejected at: time
// Says: one thread, one warp of a block or one block does the work of many
// One block transposes the tiles of four rows of blocks.
#include "cuda_device.h"
#define TILE 32
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    if (blockIdx.x | (blockIdx.y & 3)) return;
    for (int by = blockIdx.y; by < blockIdx.y + 4 && by < gridDim.y; ++by)
    for (int bx = 0; bx < gridDim.x; ++bx) {
        int x = bx * TILE + threadIdx.x, y = by * TILE + threadIdx.y;
        if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
        __syncthreads();
        x = bx * TILE + threadIdx.y;
        y = by * TILE + threadIdx.x;
        if (x < width && y < height) out[x * height + y] = tile[threadIdx.x][threadIdx.y];
        __syncthreads();
    }
}
