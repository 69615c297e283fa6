// Transposes a matrix through a tile in shared memory: a warp reads contiguous elements of a
// row, and writes contiguous elements of a row of the result.

#include "cuda_device.h"

// Tile size. Blocks are TILE x TILE threads; they may reach past the edges.
#define TILE 32

// Computes out[x][y] = in[y][x]: `in` has `height` rows of `width` elements, `out` has
// `width` rows of `height` elements.
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    // The output tile is on the other side of the diagonal, so threadIdx.x now runs along y.
    x = blockIdx.x * TILE + threadIdx.y;
    y = blockIdx.y * TILE + threadIdx.x;
    if (x < width && y < height) out[x * height + y] = tile[threadIdx.x][threadIdx.y];
}
