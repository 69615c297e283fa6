// Rejected at: counters
// Says: asynchronous copy requests: 0, required: from 256 to 1 100
#include "async_copy.h"

// Numbers per tile, and threads per block.
#define TILE 128

// Computes out[b][t] as the sum of number TILE - 1 - t of all tiles of block b.
extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float tile[2][TILE];
    const float *own = in + blockIdx.x * tiles * TILE;
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < tiles; ++k) {
        tile[k % 2][t] = own[k * TILE + t];
        __syncthreads();
        sum += tile[k % 2][TILE - 1 - t];
    }
    out[blockIdx.x * TILE + t] = sum;
}
