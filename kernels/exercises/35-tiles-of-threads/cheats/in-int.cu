// Rejected at: right
// Says: wrong
// Computes in int.
#include "cooperative.h"
namespace cg = cooperative_groups;
extern "C" __global__ void group_sums(const float *in, float *sums, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int value = i < 8 * groups ? in[i] : 0;
    for (int distance = 4; distance > 0; distance /= 2) value += tile.shfl_down(value, distance);
    if (tile.thread_rank() == 0 && i < 8 * groups) sums[i / 8] = value;
}
