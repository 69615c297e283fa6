// The grid of a cooperative launch, and its barrier.

#pragma once

#include "group.h"

namespace cooperative_groups {

namespace warpbook {

// Returns the grid barrier's counter. The driver passes a cooperative launch the address of a workspace
// in %envreg1 (upper half) and %envreg2, 0 in other launches; the counter is 4 bytes behind it.
WARPBOOK_GROUP_FN unsigned int *grid_counter() {
    unsigned int high, low;
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    const unsigned long long at = (unsigned long long)high << 32 | low;
    return at == 0 ? nullptr : (unsigned int *)(at + 4);
}
WARPBOOK_GROUP_FN unsigned int first_of_block() {
    return (threadIdx.x | threadIdx.y | threadIdx.z) == 0;
}

// Arrives at the barrier. Each block adds 1, but the first block so much that all blocks
// together flip the highest bit, which therefore alternates with the phases of the barrier.
WARPBOOK_GROUP_FN unsigned int grid_arrive() {
    unsigned int *counter = grid_counter(), before = 0;
    if (counter == nullptr) __trap();
    __syncthreads();
    if (first_of_block()) {
        const unsigned int blocks = gridDim.x * gridDim.y * gridDim.z;
        const bool first = (blockIdx.x | blockIdx.y | blockIdx.z) == 0;
        __threadfence();
        before = atomicAdd(counter, first ? 0x80000000u - (blocks - 1) : 1u);
    }
    return before;
}
WARPBOOK_GROUP_FN void grid_wait(unsigned int before) {
    if (first_of_block()) {
        const volatile unsigned int *counter = grid_counter();
        while ((int)(*counter ^ before) >= 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

} // namespace warpbook

class grid_group : public thread_group {
  public:
    struct arrival_token {
        unsigned int before;
    };

    WARPBOOK_GROUP_MEMBER grid_group() : thread_group(warpbook::grid_kind) {}
    WARPBOOK_GROUP_MEMBER bool is_valid() const { return warpbook::grid_counter() != nullptr; }
    WARPBOOK_GROUP_MEMBER void sync() const { warpbook::grid_wait(warpbook::grid_arrive()); }
    WARPBOOK_GROUP_MEMBER arrival_token barrier_arrive() const { return {warpbook::grid_arrive()}; }
    WARPBOOK_GROUP_MEMBER void barrier_wait(arrival_token token) const {
        warpbook::grid_wait(token.before);
    }
    static WARPBOOK_GROUP_MEMBER unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static WARPBOOK_GROUP_MEMBER unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static WARPBOOK_GROUP_MEMBER dim3 dim_blocks() { return gridDim; }
    static WARPBOOK_GROUP_MEMBER dim3 group_dim() { return gridDim; }
    static WARPBOOK_GROUP_MEMBER dim3 block_index() { return blockIdx; }
};

WARPBOOK_GROUP_FN grid_group this_grid() { return grid_group(); }

WARPBOOK_GROUP_MEMBER void thread_group::sync() const {
    if (kind == warpbook::block_kind) __syncthreads();
    else if (kind == warpbook::grid_kind) grid_group().sync();
    else if (kind != warpbook::thread_kind) __syncwarp(lanes);
}
WARPBOOK_GROUP_MEMBER bool thread_group::is_valid() const {
    return kind != warpbook::grid_kind || warpbook::grid_counter() != nullptr;
}

} // namespace cooperative_groups
