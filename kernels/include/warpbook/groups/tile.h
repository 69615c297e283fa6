// Parts of a warp: tiles of a fixed size, and the threads that are currently active together.

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

// `Size` neighbouring threads of a block: a power of two up to 32.
template <unsigned int Size, typename Parent = void> class thread_block_tile : public thread_group {
    static_assert(Size <= 32 && (Size & (Size - 1)) == 0 && Size != 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");

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
    template <typename Other>
    WARPBOOK_GROUP_MEMBER thread_block_tile(const thread_block_tile<Size, Other> &)
        : thread_block_tile() {}
    static WARPBOOK_GROUP_MEMBER constexpr unsigned int size() { return Size; }
    static WARPBOOK_GROUP_MEMBER constexpr unsigned int num_threads() { return Size; }
    static WARPBOOK_GROUP_MEMBER unsigned int thread_rank() { return warpbook::lane() & (Size - 1); }
    static WARPBOOK_GROUP_MEMBER void sync() { __syncwarp(mask()); }
    static WARPBOOK_GROUP_MEMBER unsigned int meta_group_rank() {
        return warpbook::rank_in_block() / Size;
    }
    static WARPBOOK_GROUP_MEMBER unsigned int meta_group_size() {
        return (warpbook::block_threads() + Size - 1) / Size;
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

// Partitions: into tiles of a fixed size; of a size computed at run time; by a label.
template <unsigned int Size, typename Parent>
WARPBOOK_GROUP_FN thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
    return thread_block_tile<Size, Parent>();
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
