// The transpose of a matrix. A warp reads 32 neighbours of a row and writes them into a column,
// each far away from the next.

#include "cuda_device.h"

// Blocks are TILE x TILE threads; they reach past the edges.
#define TILE 32

// `in` has `height` rows of `width` elements, `out` has `width` rows of `height` elements:
// out[x][y] = in[y][x].
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    // TODO: let a warp write neighbours as well; a tile in shared memory turns them round.
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}
