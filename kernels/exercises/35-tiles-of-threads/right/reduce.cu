#include "cooperative.h"

namespace cg = cooperative_groups;

// Computes sums[g] = in[8 * g] + ... + in[8 * g + 7], eight threads per group.
extern "C" __global__ void group_sums(const float *in, float *sums, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    if (i >= 8 * groups) return; // whole tiles exit
    float sum = cg::reduce(tile, in[i], cg::plus<float>());
    if (tile.thread_rank() == 0) sums[i / 8] = sum;
}
