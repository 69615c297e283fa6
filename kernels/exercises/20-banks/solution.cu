// The transpose of a matrix through a tile whose rows are one word longer than they look, so that a
// column lies in 32 different banks.

#include "cuda_device.h"

// Blocks are TILE x TILE threads; they reach past the edges.
#define TILE 32

// `in` has `height` rows of `width` elements, `out` has `width` rows of `height` elements:
// out[x][y] = in[y][x].
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    // Word [y][x] is in bank (33y + x) % 32 = (y + x) % 32.
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.x * TILE + threadIdx.y;
    y = blockIdx.y * TILE + threadIdx.x;
    if (x < width && y < height) out[x * height + y] = tile[threadIdx.x][threadIdx.y];
}
