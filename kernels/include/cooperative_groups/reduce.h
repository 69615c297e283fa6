// Reductions over the threads of a tile or of a coalesced group: sum, minimum, maximum.

#pragma once

#include "../cooperative_groups.h"

#if defined(__CUDA__)

namespace cooperative_groups {

#define WARPBOOK_GROUP_OPERATION(name, value)                                                \
    template <typename T> struct name {                                                      \
        __attribute__((host, device, always_inline, nodebug)) T operator()(const T &a,       \
                                                                          const T &b) const { \
            return value;                                                                    \
        }                                                                                    \
    };
WARPBOOK_GROUP_OPERATION(plus, a + b)
WARPBOOK_GROUP_OPERATION(less, b < a ? b : a)
WARPBOOK_GROUP_OPERATION(greater, a < b ? b : a)
WARPBOOK_GROUP_OPERATION(bit_and, a &b)
WARPBOOK_GROUP_OPERATION(bit_or, a | b)
WARPBOOK_GROUP_OPERATION(bit_xor, a ^ b)
#undef WARPBOOK_GROUP_OPERATION

// Reduces over a tile: each thread combines its value with that of its partner, at doubling distances.
template <unsigned int Size, typename Parent, typename T, typename Operation>
WARPBOOK_GROUP_FN T reduce(const thread_block_tile<Size, Parent, false> &group, T value,
                           const Operation &operation) {
    for (unsigned int distance = Size / 2; distance > 0; distance /= 2)
        value = operation(value, group.shfl_xor(value, (int)distance));
    return value;
}

// Reduces over a tile of several warps.
template <unsigned int Size, typename Parent, typename T, typename Operation>
WARPBOOK_GROUP_FN T reduce(const thread_block_tile<Size, Parent, true> &group, T value,
                           const Operation &operation) {
    return group.warpbook_reduce(value, operation);
}

// Reduces over other threads of a warp: from the upper half of the ranks to the lower, until one holds the result.
template <typename T, typename Operation>
WARPBOOK_GROUP_FN T reduce(const coalesced_group &group, T value, const Operation &operation) {
    const unsigned int rank = group.thread_rank();
    for (unsigned int count = group.size(); count > 1;) {
        const unsigned int kept = (count + 1) / 2;
        const T other = group.shfl_down(value, kept);
        if (rank + kept < count) value = operation(value, other);
        count = kept;
    }
    return group.shfl(value, 0);
}

#if WARPBOOK_HAS_SM(800)
// Reduces 32-bit integers with one instruction.
#define WARPBOOK_GROUP_REDUCE(T, operation, instruction)                                     \
    template <unsigned int Size, typename Parent>                                            \
    WARPBOOK_GROUP_FN T reduce(const thread_block_tile<Size, Parent, false> &group, T value, \
                               operation<T>) {                                               \
        return (T)instruction(group.warpbook_lanes(), value);                                \
    }                                                                                        \
    WARPBOOK_GROUP_FN T reduce(const coalesced_group &group, T value, operation<T>) {        \
        return (T)instruction(group.warpbook_lanes(), value);                                \
    }
WARPBOOK_GROUP_REDUCE(int, plus, __reduce_add_sync)
WARPBOOK_GROUP_REDUCE(int, less, __reduce_min_sync)
WARPBOOK_GROUP_REDUCE(int, greater, __reduce_max_sync)
WARPBOOK_GROUP_REDUCE(unsigned int, plus, __reduce_add_sync)
WARPBOOK_GROUP_REDUCE(unsigned int, less, __reduce_min_sync)
WARPBOOK_GROUP_REDUCE(unsigned int, greater, __reduce_max_sync)
WARPBOOK_GROUP_REDUCE(unsigned int, bit_and, __reduce_and_sync)
WARPBOOK_GROUP_REDUCE(unsigned int, bit_or, __reduce_or_sync)
WARPBOOK_GROUP_REDUCE(unsigned int, bit_xor, __reduce_xor_sync)
#undef WARPBOOK_GROUP_REDUCE
#endif

// Reduces and stores the result to memory; one thread writes it.
template <typename Group, typename T, typename Operation>
WARPBOOK_GROUP_FN void reduce_store_async(const Group &group, T *to, T value,
                                          const Operation &operation) {
    const T all = reduce(group, value, operation);
    if (group.thread_rank() == 0) *to = all;
}

} // namespace cooperative_groups

#endif
