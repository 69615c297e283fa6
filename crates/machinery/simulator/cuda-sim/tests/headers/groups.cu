// Cooperative groups: each thread queries its block, its tile, its coalesced group and the grid.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__device__ int first_of(cg::thread_group group, int *shared, int value) {
    shared[group.thread_rank()] = value;
    group.sync();
    const int first = shared[0];
    group.sync();
    return first * 100 + (int)group.size();
}

struct Three {
    int x, y, z;
};

extern "C" __global__ void groups(const int *from, int *to) {
    __shared__ int shared[64];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const auto tile = cg::tiled_partition<8>(warp);
    const int i = (int)block.thread_rank();
    to += 20 * i;
    cg::memcpy_async(block, shared, from, sizeof(int) * 64);
    cg::wait(block);
    const int mine = shared[i];
    block.sync();
    to[0] = first_of(block, shared, mine);
    to[1] = (int)warp.meta_group_rank() * 100 + (int)warp.meta_group_size();
    to[2] = (int)tile.thread_rank() * 100 + (int)tile.meta_group_rank();
    to[3] = cg::reduce(tile, mine, cg::plus<int>());
    to[4] = (int)cg::reduce(warp, (float)mine, cg::greater<float>());
    to[5] = cg::inclusive_scan(tile, mine);
    to[6] = cg::exclusive_scan(warp, mine, cg::plus<int>());
    to[7] = (int)tile.ballot(mine & 1);
    to[8] = tile.shfl_xor(mine, 3) * 3 + tile.shfl(Three{1, mine, 3}, 2).y;
    to[9] = tile.any(mine == from[5]) + 2 * warp.all(mine < 1000);
    to[10] = (int)warp.match_any(mine % 3);
    if (mine % 3 == 1) {
        const cg::coalesced_group together = cg::coalesced_threads();
        to[11] = (int)together.size() * 100 + (int)together.thread_rank();
        to[12] = cg::reduce(together, (long long)mine, cg::plus<long long>());
        to[13] = together.shfl(mine, 1) * 1000 + together.shfl_up(mine, 1);
        to[14] = (int)together.ballot(together.thread_rank() == 1);
        to[15] = cg::inclusive_scan(together, 1);
    }
    const auto part = cg::tiled_partition(block, 16);
    to[16] = (int)part.thread_rank() * 100 + (int)part.size();
    to[17] = (int)cg::labeled_partition(warp, mine % 3).size();
    to[18] = (int)cg::this_grid().thread_rank() + (cg::this_grid().is_valid() ? 1000 : 0);
    to[19] = cg::reduce(cg::binary_partition(warp, mine & 1), 1, cg::plus<int>());
}

// Writes each block's number, waits for all blocks, and sums all numbers in each block; repeats this three times.
extern "C" __global__ void waiting(unsigned int *numbers) {
    cg::grid_group grid = cg::this_grid();
    unsigned int mine = blockIdx.x + 1;
    for (int round = 0; round < 3; round++) {
        if (threadIdx.x == 0) numbers[blockIdx.x] = mine;
        grid.sync();
        mine = 0;
        for (unsigned int n = 0; n < gridDim.x; n++) mine += ((volatile unsigned int *)numbers)[n];
        grid.sync();
    }
    if (threadIdx.x == 0) numbers[blockIdx.x] = mine;
}
