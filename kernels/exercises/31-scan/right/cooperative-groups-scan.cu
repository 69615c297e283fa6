// The scan of a tile is that of cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#define THREADS 256
extern "C" __global__ void scan(const float *in, float *out, int n) {
    __shared__ float totals[8];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = cg::inclusive_scan(warp, i < n ? in[i] : 0.0f);
    if (warp.thread_rank() == 31) totals[warp.meta_group_rank()] = v;
    block.sync();
    for (unsigned w = 0; w < warp.meta_group_rank(); ++w) v += totals[w];
    if (i < n) out[i] = v;
}
