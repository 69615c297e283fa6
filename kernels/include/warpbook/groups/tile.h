// Tiles of a fixed size, and the threads of a warp that are currently active together.

#pragma once

#include "group.h"

namespace cooperative_groups {

// The threads of a lane mask, addressed by their rank in it.
class coalesced_group : public thread_group {
    template <typename T> WARPBOOK_GROUP_MEMBER T from_rank(T value, unsigned int rank) const {
        return warpbook::from_lane(lanes, value, warpbook::lane_of_rank(lanes, rank));
    }

  public:
    // Index and number of the groups that a partition created.
    unsigned int warpbook_index = 0, warpbook_count = 1;

    WARPBOOK_GROUP_MEMBER coalesced_group(unsigned int lanes)
        : thread_group(warpbook::coalesced_kind, lanes) {}
    WARPBOOK_GROUP_MEMBER unsigned int size() const { return (unsigned int)__popc(lanes); }
    WARPBOOK_GROUP_MEMBER unsigned int num_threads() const { return size(); }
    WARPBOOK_GROUP_MEMBER unsigned int thread_rank() const {
        return (unsigned int)__popc(lanes & warpbook::lanes_below());
    }
    WARPBOOK_GROUP_MEMBER void sync() const { __syncwarp(lanes); }
    WARPBOOK_GROUP_MEMBER unsigned int meta_group_rank() const { return warpbook_index; }
    WARPBOOK_GROUP_MEMBER unsigned int meta_group_size() const { return warpbook_count; }

    template <typename T> WARPBOOK_GROUP_MEMBER T shfl(T value, int rank) const {
        return from_rank(value, (unsigned int)rank % size());
    }
    template <typename T> WARPBOOK_GROUP_MEMBER T shfl_up(T value, unsigned int delta) const {
        const unsigned int rank = thread_rank();
        return from_rank(value, delta <= rank ? rank - delta : rank);
    }
    template <typename T> WARPBOOK_GROUP_MEMBER T shfl_down(T value, unsigned int delta) const {
        const unsigned int rank = thread_rank();
        return from_rank(value, rank + delta < size() ? rank + delta : rank);
    }
    template <typename T> WARPBOOK_GROUP_MEMBER T shfl_xor(T value, unsigned int bits) const {
        const unsigned int rank = thread_rank() ^ bits;
        return from_rank(value, rank < size() ? rank : thread_rank());
    }
    WARPBOOK_GROUP_MEMBER int any(int predicate) const { return __any_sync(lanes, predicate); }
    WARPBOOK_GROUP_MEMBER int all(int predicate) const { return __all_sync(lanes, predicate); }
    WARPBOOK_GROUP_MEMBER unsigned int ballot(int predicate) const {
        return warpbook::by_rank(lanes, __ballot_sync(lanes, predicate));
    }
#if WARPBOOK_HAS_SM(700)
    template <typename T> WARPBOOK_GROUP_MEMBER unsigned int match_any(T value) const {
        return warpbook::by_rank(lanes, __match_any_sync(lanes, value));
    }
    template <typename T> WARPBOOK_GROUP_MEMBER unsigned int match_all(T value, int &all) const {
        return warpbook::by_rank(lanes, __match_all_sync(lanes, value, &all));
    }
#endif
};

WARPBOOK_GROUP_FN coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// `Size` neighbouring threads of a block: a power of two. Tiles larger than a warp are a specialization.
template <unsigned int Size, typename Parent = void, bool IsLarge = (Size > 32)>
class thread_block_tile;

namespace warpbook {
// The rank of the thread in the parent of a tile, and the size of the parent: a larger tile, or the block.
template <typename Parent> struct tiles_of {
    static WARPBOOK_GROUP_MEMBER unsigned int rank() { return rank_in_block(); }
    static WARPBOOK_GROUP_MEMBER unsigned int size() { return block_threads(); }
};
template <unsigned int Size, typename Parent, bool IsLarge>
struct tiles_of<thread_block_tile<Size, Parent, IsLarge>> {
    static WARPBOOK_GROUP_MEMBER unsigned int rank() { return rank_in_block() % Size; }
    static WARPBOOK_GROUP_MEMBER unsigned int size() { return Size; }
};
} // namespace warpbook

template <unsigned int Size, typename Parent>
class thread_block_tile<Size, Parent, false> : public thread_group {
    static_assert((Size & (Size - 1)) == 0 && Size != 0,
                  "the number of a tile's threads is a power of two");

    static WARPBOOK_GROUP_MEMBER unsigned int first_lane() { return warpbook::lane() & ~(Size - 1); }
    static WARPBOOK_GROUP_MEMBER unsigned int mask() {
        return Size == 32 ? ~0u : ((1u << (Size & 31)) - 1) << first_lane();
    }

    // Shuffles of the types that the instruction takes, and of all others one word at a time.
#define WARPBOOK_TILE_SHUFFLE(name, Lane)                                                   \
    template <typename T> WARPBOOK_GROUP_MEMBER T name(T value, Lane lane) const {          \
        constexpr int words = (sizeof(T) + 3) / 4;                                          \
        unsigned int bits[words] = {};                                                      \
        __builtin_memcpy(bits, &value, sizeof(T));                                          \
        for (int n = 0; n < words; n++) bits[n] = __##name##_sync(mask(), bits[n], lane, (int)Size); \
        __builtin_memcpy(&value, bits, sizeof(T));                                          \
        return value;                                                                       \
    }

  public:
    WARPBOOK_GROUP_MEMBER thread_block_tile() : thread_group(warpbook::tile_kind, mask()) {}
    WARPBOOK_GROUP_MEMBER thread_block_tile(warpbook::tile_memory *) : thread_block_tile() {}
    template <typename Other>
    WARPBOOK_GROUP_MEMBER thread_block_tile(const thread_block_tile<Size, Other> &)
        : thread_block_tile() {}
    static WARPBOOK_GROUP_MEMBER constexpr unsigned int size() { return Size; }
    static WARPBOOK_GROUP_MEMBER constexpr unsigned int num_threads() { return Size; }
    static WARPBOOK_GROUP_MEMBER unsigned int thread_rank() { return warpbook::lane() & (Size - 1); }
    static WARPBOOK_GROUP_MEMBER void sync() { __syncwarp(mask()); }
    static WARPBOOK_GROUP_MEMBER unsigned int meta_group_rank() {
        return warpbook::tiles_of<Parent>::rank() / Size;
    }
    static WARPBOOK_GROUP_MEMBER unsigned int meta_group_size() {
        return (warpbook::tiles_of<Parent>::size() + Size - 1) / Size;
    }

    WARPBOOK_TILE_SHUFFLE(shfl, int)
    WARPBOOK_TILE_SHUFFLE(shfl_up, unsigned int)
    WARPBOOK_TILE_SHUFFLE(shfl_down, unsigned int)
    WARPBOOK_TILE_SHUFFLE(shfl_xor, int)
#undef WARPBOOK_TILE_SHUFFLE

    WARPBOOK_GROUP_MEMBER int any(int predicate) const { return __any_sync(mask(), predicate); }
    WARPBOOK_GROUP_MEMBER int all(int predicate) const { return __all_sync(mask(), predicate); }
    WARPBOOK_GROUP_MEMBER unsigned int ballot(int predicate) const {
        return __ballot_sync(mask(), predicate) >> first_lane();
    }
#if WARPBOOK_HAS_SM(700)
    template <typename T> WARPBOOK_GROUP_MEMBER unsigned int match_any(T value) const {
        return __match_any_sync(mask(), value) >> first_lane();
    }
    template <typename T> WARPBOOK_GROUP_MEMBER unsigned int match_all(T value, int &all) const {
        return __match_all_sync(mask(), value, &all) >> first_lane();
    }
#endif
};

// A tile of several warps, whose values pass through the memory that this_thread_block received.
template <unsigned int Size, typename Parent>
class thread_block_tile<Size, Parent, true> : public thread_group {
    static_assert((Size & (Size - 1)) == 0 && Size <= 1024,
                  "the number of a tile's threads is a power of two, at most 1024");

    static WARPBOOK_GROUP_MEMBER unsigned int index() { return warpbook::rank_in_block() / Size; }
    static WARPBOOK_GROUP_MEMBER unsigned int warp() { return warpbook::rank_in_block() / 32; }
    template <typename T> WARPBOOK_GROUP_MEMBER T *slot(unsigned int warp) const {
        static_assert(sizeof(T) <= 8, "a value of a tile of several warps has at most 8 bytes");
        // Only GPUs of compute capability 7.5 and earlier need the program's memory.
        __shared__ static warpbook::tile_memory memory;
        return (T *)(warpbook_memory != nullptr ? warpbook_memory : &memory)->slots[warp];
    }

  public:
    warpbook::tile_memory *warpbook_memory;

    WARPBOOK_GROUP_MEMBER thread_block_tile(warpbook::tile_memory *memory)
        : thread_group(warpbook::tile_kind, ~0u), warpbook_memory(memory) {}
    template <typename Other>
    WARPBOOK_GROUP_MEMBER thread_block_tile(const thread_block_tile<Size, Other> &other)
        : thread_block_tile(other.warpbook_memory) {}
    static WARPBOOK_GROUP_MEMBER constexpr unsigned int size() { return Size; }
    static WARPBOOK_GROUP_MEMBER constexpr unsigned int num_threads() { return Size; }
    static WARPBOOK_GROUP_MEMBER unsigned int thread_rank() {
        return warpbook::rank_in_block() % Size;
    }
    static WARPBOOK_GROUP_MEMBER unsigned int meta_group_rank() {
        return warpbook::tiles_of<Parent>::rank() / Size;
    }
    static WARPBOOK_GROUP_MEMBER unsigned int meta_group_size() {
        return (warpbook::tiles_of<Parent>::size() + Size - 1) / Size;
    }

    // A block has 16 barriers, of which __syncthreads uses the first. A sixteenth tile counts its arrivals.
    WARPBOOK_GROUP_MEMBER void sync() const {
        if (index() < 15) {
            asm volatile("barrier.sync %0, %1;" ::"r"(index() + 1), "r"(Size) : "memory");
            return;
        }
        if (warpbook_memory == nullptr) __trap();
        __syncwarp();
        if (warpbook::lane() == 0) {
            __threadfence_block();
            const unsigned int before = atomicAdd(&warpbook_memory->arrivals, 1u);
            const unsigned int all = before - before % (Size / 32) + Size / 32;
            while ((int)(*(volatile unsigned int *)&warpbook_memory->arrivals - all) < 0) {
            }
            __threadfence_block();
        }
        __syncwarp();
    }

    template <typename T> WARPBOOK_GROUP_MEMBER T shfl(T value, unsigned int rank) const {
        const unsigned int first = index() * (Size / 32);
        if (thread_rank() == rank % Size) *slot<T>(first) = value;
        sync();
        value = *slot<T>(first);
        sync();
        return value;
    }
    // Combines the values of all threads.
    template <typename T, typename Operation>
    WARPBOOK_GROUP_MEMBER T warpbook_reduce(T value, const Operation &operation) const {
        for (unsigned int distance = 16; distance > 0; distance /= 2)
            value = operation(value, thread_block_tile<32>().shfl_xor(value, (int)distance));
        if (warpbook::lane() == 0) *slot<T>(warp()) = value;
        sync();
        const unsigned int first = index() * (Size / 32);
        value = *slot<T>(first);
        for (unsigned int n = 1; n < Size / 32; n++) value = operation(value, *slot<T>(first + n));
        sync();
        return value;
    }
    WARPBOOK_GROUP_MEMBER int any(int predicate) const {
        return warpbook_reduce(predicate != 0, [](int a, int b) { return a | b; });
    }
    WARPBOOK_GROUP_MEMBER int all(int predicate) const {
        return warpbook_reduce(predicate != 0, [](int a, int b) { return a & b; });
    }
};

namespace warpbook {
// Returns the memory for tiles larger than a warp that a group has.
template <typename Group> WARPBOOK_GROUP_FN tile_memory *memory_of(const Group &) { return nullptr; }
WARPBOOK_GROUP_FN tile_memory *memory_of(const thread_block &block) { return block.warpbook_memory; }
template <unsigned int Size, typename Parent>
WARPBOOK_GROUP_FN tile_memory *memory_of(const thread_block_tile<Size, Parent, true> &tile) {
    return tile.warpbook_memory;
}
} // namespace warpbook

// Partitions: into tiles of a fixed size; of a size computed at run time; by a label.
template <unsigned int Size, typename Parent>
WARPBOOK_GROUP_FN thread_block_tile<Size, Parent> tiled_partition(const Parent &parent) {
    return thread_block_tile<Size, Parent>(warpbook::memory_of(parent));
}
WARPBOOK_GROUP_FN coalesced_group tiled_partition(const coalesced_group &group, unsigned int size) {
    const unsigned int first = group.thread_rank() / size * size;
    unsigned int lanes = 0;
    for (unsigned int rank = first; rank < first + size && rank < group.size(); rank++)
        lanes |= 1u << warpbook::lane_of_rank(group.warpbook_lanes(), rank);
    coalesced_group part(lanes);
    part.warpbook_index = group.thread_rank() / size;
    part.warpbook_count = (group.size() + size - 1) / size;
    return part;
}
template <unsigned int Size>
WARPBOOK_GROUP_FN coalesced_group tiled_partition(const coalesced_group &group) {
    return tiled_partition(group, Size);
}
WARPBOOK_GROUP_FN thread_group tiled_partition(const thread_group &group, unsigned int size) {
    if (group.get_type() == warpbook::coalesced_kind)
        return tiled_partition(coalesced_group(group.warpbook_lanes()), size);
    const unsigned int mask = size >= 32 ? ~0u : (1u << size) - 1;
    return thread_group(warpbook::tile_kind, mask << (warpbook::lane() & ~(size - 1) & 31));
}
WARPBOOK_GROUP_FN thread_group tiled_partition(const thread_block &group, unsigned int size) {
    return tiled_partition((const thread_group &)group, size);
}
#if WARPBOOK_HAS_SM(700)
template <typename Group, typename Label>
WARPBOOK_GROUP_FN coalesced_group labeled_partition(const Group &group, Label label) {
    return coalesced_group(__match_any_sync(group.warpbook_lanes(), label));
}
#endif
template <typename Group>
WARPBOOK_GROUP_FN coalesced_group binary_partition(const Group &group, bool predicate) {
    const unsigned int yes = __ballot_sync(group.warpbook_lanes(), predicate);
    return coalesced_group(predicate ? yes : group.warpbook_lanes() & ~yes);
}

} // namespace cooperative_groups
