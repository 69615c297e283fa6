// Rejected at: counters
// Says: global atomic requests + global reduction requests + shared atomic requests: 3 125,
#include "cooperative.h"

namespace cg = cooperative_groups;

// Computes sums[g] = in[8 * g] + ... + in[8 * g + 7], eight threads per group.
extern "C" __global__ void group_sums(const float *in, float *sums, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    if (tile.thread_rank() == 0 && i < 8 * groups) sums[i / 8] = 0;
    tile.sync();
    if (i < 8 * groups) atomicAdd(&sums[i / 8], in[i]);
}
