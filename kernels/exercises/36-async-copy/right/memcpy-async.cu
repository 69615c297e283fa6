// The copies are those of cooperative groups.
#include "cooperative.h"
#include "async_copy.h"
namespace cg = cooperative_groups;
#define TILE 128
extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float tile[2][TILE];
    auto b = cg::this_thread_block();
    const float *own = in + blockIdx.x * tiles * TILE;
    int t = threadIdx.x;
    float sum = 0;
    cg::memcpy_async(b, tile[0], own, sizeof(tile[0]));
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) {
            cg::memcpy_async(b, tile[(k + 1) & 1], own + (k + 1) * TILE, sizeof(tile[0]));
            cg::wait_prior<1>(b);
        } else
            cg::wait(b);
        b.sync();
        sum += tile[k & 1][TILE - 1 - t];
        b.sync();
    }
    out[blockIdx.x * TILE + t] = sum;
}