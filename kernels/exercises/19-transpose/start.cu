// Transposes a matrix. A warp reads 32 contiguous elements of a row and writes them to a
// column, where they are far apart.

#include "cuda_device.h"

// Tile size. Blocks are TILE x TILE threads; they may reach past the edges.
#define TILE 32

// Computes out[x][y] = in[y][x]: `in` has `height` rows of `width` elements, `out` has
// `width` rows of `height` elements.
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    // TODO: make the writes of a warp coalesced as well; transpose a tile in shared memory.
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}
