// Rejected at: right, checks
// Says: [0] was written by: `group_sums`, block (0, 0, 0), thread (0, 0, 0)
// The upper half has returned, but the lower half reads its values.
#include "cooperative.h"

namespace cg = cooperative_groups;

// Computes sums[g] = in[8 * g] + ... + in[8 * g + 7], eight threads per group.
extern "C" __global__ void group_sums(const float *in, float *sums, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    float value = i < 8 * groups ? in[i] : 0;
    for (int distance = 4; distance > 0; distance /= 2)
        if (tile.thread_rank() < distance) value += tile.shfl_down(value, distance);
    if (tile.thread_rank() == 0 && i < 8 * groups) sums[i / 8] = value;
}
