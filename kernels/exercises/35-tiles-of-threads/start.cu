// Computes sums of groups of eight numbers.

#include "cooperative.h"

namespace cg = cooperative_groups;

// Computes sums[g] = in[8 * g] + ... + in[8 * g + 7], eight threads per group.
extern "C" __global__ void group_sums(const float *in, float *sums, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: these sums cover 32 threads.
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    float value = i < 8 * groups ? in[i] : 0;
    for (int distance = 16; distance > 0; distance /= 2) value += tile.shfl_down(value, distance);
    if (tile.thread_rank() % 8 == 0 && i < 8 * groups) sums[i / 8] = value;
}
