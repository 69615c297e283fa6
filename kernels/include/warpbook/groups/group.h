// Groups of threads: their common members, the block, and a single thread.

#pragma once

#include "../../device_functions.h"

#define WARPBOOK_GROUP_FN static inline __attribute__((device, always_inline, nodebug, unused))
#define WARPBOOK_GROUP_MEMBER __attribute__((device, always_inline, nodebug)) inline

namespace cooperative_groups {

namespace warpbook {

enum group_kind { thread_kind, block_kind, tile_kind, coalesced_kind, grid_kind };

WARPBOOK_GROUP_FN unsigned int lane() {
    unsigned int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
WARPBOOK_GROUP_FN unsigned int lanes_below() { return (1u << lane()) - 1; }
WARPBOOK_GROUP_FN unsigned int rank_in_block() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
WARPBOOK_GROUP_FN unsigned int block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

// Returns the lane with this rank among the lanes of a mask.
WARPBOOK_GROUP_FN unsigned int lane_of_rank(unsigned int mask, unsigned int rank) {
    if (mask == ~0u) return rank;
    return __fns(mask, 0, (int)rank + 1);
}
// Returns the bits of a mask's lanes, ordered by rank.
WARPBOOK_GROUP_FN unsigned int by_rank(unsigned int mask, unsigned int bits) {
    if (mask == ~0u) return bits;
    unsigned int packed = 0, rank = 0;
    for (unsigned int rest = mask; rest != 0; rest &= rest - 1) {
        packed |= (bits >> (__ffs((int)rest) - 1) & 1) << rank++;
    }
    return packed;
}

// Returns another lane's value of any size, one word at a time.
template <typename T> WARPBOOK_GROUP_FN T from_lane(unsigned int mask, T value, unsigned int lane) {
    constexpr int words = (sizeof(T) + 3) / 4;
    unsigned int bits[words] = {};
    __builtin_memcpy(bits, &value, sizeof(T));
    for (int n = 0; n < words; n++) bits[n] = __shfl_sync(mask, bits[n], (int)lane);
    __builtin_memcpy(&value, bits, sizeof(T));
    return value;
}

} // namespace warpbook

// Base class of groups: identifies the threads and how they synchronize.
class thread_group {
  protected:
    warpbook::group_kind kind;
    // Lane mask of a group that is part of a warp.
    unsigned int lanes;

  public:
    WARPBOOK_GROUP_MEMBER thread_group(warpbook::group_kind kind, unsigned int lanes = 0)
        : kind(kind), lanes(lanes) {}
    WARPBOOK_GROUP_MEMBER unsigned long long size() const {
        if (kind == warpbook::thread_kind) return 1;
        if (kind == warpbook::block_kind) return warpbook::block_threads();
        if (kind == warpbook::grid_kind)
            return (unsigned long long)warpbook::block_threads() * gridDim.x * gridDim.y * gridDim.z;
        return __popc(lanes);
    }
    WARPBOOK_GROUP_MEMBER unsigned long long num_threads() const { return size(); }
    WARPBOOK_GROUP_MEMBER unsigned long long thread_rank() const {
        if (kind == warpbook::thread_kind) return 0;
        if (kind == warpbook::block_kind) return warpbook::rank_in_block();
        if (kind == warpbook::grid_kind) {
            const unsigned long long block =
                ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
            return block * warpbook::block_threads() + warpbook::rank_in_block();
        }
        return __popc(lanes & warpbook::lanes_below());
    }
    WARPBOOK_GROUP_MEMBER void sync() const;
    WARPBOOK_GROUP_MEMBER bool is_valid() const;
    WARPBOOK_GROUP_MEMBER unsigned int get_type() const { return (unsigned int)kind; }
    WARPBOOK_GROUP_MEMBER unsigned int warpbook_lanes() const { return lanes; }
};

namespace warpbook {
// Shared memory of tiles larger than a warp: a slot for each warp, and the arrivals of the last tile.
struct tile_memory {
    alignas(8) unsigned char slots[32][8];
    unsigned int arrivals;
};
} // namespace warpbook

// Shared memory that tiles larger than a warp need, given to this_thread_block.
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory : warpbook::tile_memory {};

class thread_block : public thread_group {
  public:
    warpbook::tile_memory *warpbook_memory = nullptr;

    WARPBOOK_GROUP_MEMBER thread_block() : thread_group(warpbook::block_kind) {}
    static WARPBOOK_GROUP_MEMBER void sync() { __syncthreads(); }
    static WARPBOOK_GROUP_MEMBER unsigned int size() { return warpbook::block_threads(); }
    static WARPBOOK_GROUP_MEMBER unsigned int num_threads() { return warpbook::block_threads(); }
    static WARPBOOK_GROUP_MEMBER unsigned int thread_rank() { return warpbook::rank_in_block(); }
    static WARPBOOK_GROUP_MEMBER dim3 group_index() { return blockIdx; }
    static WARPBOOK_GROUP_MEMBER dim3 thread_index() { return threadIdx; }
    static WARPBOOK_GROUP_MEMBER dim3 group_dim() { return blockDim; }
    static WARPBOOK_GROUP_MEMBER dim3 dim_threads() { return blockDim; }
    static WARPBOOK_GROUP_MEMBER bool is_valid() { return true; }
};

WARPBOOK_GROUP_FN thread_block this_thread_block() { return thread_block(); }
template <unsigned int MaxBlockSize>
WARPBOOK_GROUP_FN thread_block this_thread_block(block_tile_memory<MaxBlockSize> &memory) {
    thread_block block;
    block.warpbook_memory = &memory;
    __syncthreads();
    if (warpbook::rank_in_block() == 0) memory.arrivals = 0;
    __syncthreads();
    return block;
}

class warpbook_thread : public thread_group {
  public:
    WARPBOOK_GROUP_MEMBER warpbook_thread() : thread_group(warpbook::thread_kind) {}
};
WARPBOOK_GROUP_FN thread_group this_thread() { return warpbook_thread(); }

} // namespace cooperative_groups
