// Transposes a matrix through a tile whose rows are padded by one word, so that the elements
// of a column are in 32 different banks.

#include "cuda_device.h"

// Tile size. Blocks are TILE x TILE threads; they may reach past the edges.
#define TILE 32

// Computes out[x][y] = in[y][x]: `in` has `height` rows of `width` elements, `out` has
// `width` rows of `height` elements.
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
