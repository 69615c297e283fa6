// Thread block clusters of compute capability 9.0: blocks that can access each other's shared memory.

#pragma once

#include "group.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

namespace cooperative_groups {

namespace warpbook {

#define WARPBOOK_CLUSTER_REGISTER(name, text)                                                      \
    WARPBOOK_GROUP_FN unsigned int name() {                                                        \
        unsigned int value;                                                                        \
        asm("mov.u32 %0, %%" text ";" : "=r"(value));                                              \
        return value;                                                                              \
    }
WARPBOOK_CLUSTER_REGISTER(cluster_block_rank, "cluster_ctarank")
WARPBOOK_CLUSTER_REGISTER(cluster_blocks, "cluster_nctarank")
WARPBOOK_CLUSTER_REGISTER(cluster_block_x, "cluster_ctaid.x")
WARPBOOK_CLUSTER_REGISTER(cluster_block_y, "cluster_ctaid.y")
WARPBOOK_CLUSTER_REGISTER(cluster_block_z, "cluster_ctaid.z")
WARPBOOK_CLUSTER_REGISTER(cluster_size_x, "cluster_nctaid.x")
WARPBOOK_CLUSTER_REGISTER(cluster_size_y, "cluster_nctaid.y")
WARPBOOK_CLUSTER_REGISTER(cluster_size_z, "cluster_nctaid.z")
#undef WARPBOOK_CLUSTER_REGISTER

} // namespace warpbook

class cluster_group {
  public:
    struct arrival_token {};

    static WARPBOOK_GROUP_MEMBER arrival_token barrier_arrive() {
        asm volatile("barrier.cluster.arrive;" ::: "memory");
        return {};
    }
    static WARPBOOK_GROUP_MEMBER void barrier_wait() {
        asm volatile("barrier.cluster.wait;" ::: "memory");
    }
    static WARPBOOK_GROUP_MEMBER void barrier_wait(arrival_token &&) { barrier_wait(); }
    static WARPBOOK_GROUP_MEMBER void sync() {
        barrier_arrive();
        barrier_wait();
    }
    static WARPBOOK_GROUP_MEMBER unsigned int block_rank() {
        return warpbook::cluster_block_rank();
    }
    static WARPBOOK_GROUP_MEMBER unsigned int num_blocks() { return warpbook::cluster_blocks(); }
    static WARPBOOK_GROUP_MEMBER dim3 block_index() {
        return dim3(warpbook::cluster_block_x(), warpbook::cluster_block_y(),
                    warpbook::cluster_block_z());
    }
    static WARPBOOK_GROUP_MEMBER dim3 dim_blocks() {
        return dim3(warpbook::cluster_size_x(), warpbook::cluster_size_y(),
                    warpbook::cluster_size_z());
    }
    static WARPBOOK_GROUP_MEMBER dim3 dim_threads() {
        const dim3 blocks = dim_blocks();
        return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
    }
    static WARPBOOK_GROUP_MEMBER unsigned int num_threads() {
        return num_blocks() * warpbook::block_threads();
    }
    static WARPBOOK_GROUP_MEMBER unsigned int size() { return num_threads(); }
    static WARPBOOK_GROUP_MEMBER unsigned int thread_rank() {
        return block_rank() * warpbook::block_threads() + warpbook::rank_in_block();
    }
    static WARPBOOK_GROUP_MEMBER dim3 thread_index() {
        const dim3 block = block_index();
        return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                    block.z * blockDim.z + threadIdx.z);
    }
    // Returns the address of a variable in the shared memory of another block of the cluster.
    template <typename T> static WARPBOOK_GROUP_MEMBER T *map_shared_rank(T *address, int rank) {
        T *mapped;
        asm("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(address), "r"(rank));
        return mapped;
    }
    // Returns the rank of the block to whose shared memory an address belongs.
    static WARPBOOK_GROUP_MEMBER unsigned int query_shared_rank(const void *address) {
        unsigned int rank;
        asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(address));
        return rank;
    }
};

WARPBOOK_GROUP_FN cluster_group this_cluster() { return cluster_group(); }

} // namespace cooperative_groups

#endif
