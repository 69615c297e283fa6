// Rejected at: right
// Says: the sum of only the first 4 of up to 8 terms
#include "cooperative.h"

namespace cg = cooperative_groups;

// Computes sums[g] = in[8 * g] + ... + in[8 * g + 7], eight threads per group.
extern "C" __global__ void group_sums(const float *in, float *sums, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    float value = i < 8 * groups ? in[i] : 0;
    for (int distance = 2; distance > 0; distance /= 2) value += tile.shfl_down(value, distance);
    if (threadIdx.x % 8 == 0 && i < 8 * groups) sums[i / 8] = value;
}
