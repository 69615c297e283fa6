// The transpose of a matrix through a tile: a warp reads neighbours of a row, and writes neighbours
// of a row of the result.

#include "cuda_device.h"

// Blocks are TILE x TILE threads; they reach past the edges.
#define TILE 32

// `in` has `height` rows of `width` elements, `out` has `width` rows of `height` elements:
// out[x][y] = in[y][x].
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    // The tile belongs to the other side of the diagonal now, and threadIdx.x runs along y.
    x = blockIdx.x * TILE + threadIdx.y;
    y = blockIdx.y * TILE + threadIdx.x;
    if (x < width && y < height) out[x * height + y] = tile[threadIdx.x][threadIdx.y];
}
