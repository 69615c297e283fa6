// Warp-wide functions: votes, matches, reductions.

#pragma once

#include "device_fn.h"

WARPBOOK_DEVICE_FN int __all_sync(unsigned int mask, int predicate) {
    return __nvvm_vote_all_sync(mask, predicate);
}
WARPBOOK_DEVICE_FN int __any_sync(unsigned int mask, int predicate) {
    return __nvvm_vote_any_sync(mask, predicate);
}
WARPBOOK_DEVICE_FN int __uni_sync(unsigned int mask, int predicate) {
    return __nvvm_vote_uni_sync(mask, predicate);
}
WARPBOOK_DEVICE_FN unsigned int __ballot_sync(unsigned int mask, int predicate) {
    return __nvvm_vote_ballot_sync(mask, predicate);
}
WARPBOOK_DEVICE_FN unsigned int __activemask() {
    unsigned int mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

// The votes of CUDA 8 have no mask: the active lanes vote. sm_70 and newer GPUs have no
// such instruction, so the active mask is passed.
WARPBOOK_DEVICE_FN int __all(int predicate) { return __all_sync(__activemask(), predicate); }
WARPBOOK_DEVICE_FN int __any(int predicate) { return __any_sync(__activemask(), predicate); }
WARPBOOK_DEVICE_FN unsigned int __ballot(int predicate) {
    return __ballot_sync(__activemask(), predicate);
}

#if WARPBOOK_HAS_SM(700)
// clang up to 14 writes the result of the 64-bit match to a 64-bit register, which PTX does not allow.
#define WARPBOOK_MATCH(T, bits, type, letter)                                              \
    WARPBOOK_DEVICE_FN unsigned int __match_any_sync(unsigned int mask, T value) {         \
        unsigned int same;                                                                 \
        asm volatile("match.any.sync." type " %0, %1, %2;"                                 \
                     : "=r"(same)                                                          \
                     : letter(bits), "r"(mask));                                           \
        return same;                                                                       \
    }                                                                                      \
    WARPBOOK_DEVICE_FN unsigned int __match_all_sync(unsigned int mask, T value, int *all) {\
        unsigned int same;                                                                 \
        asm volatile("{ .reg .pred p; match.all.sync." type " %0|p, %2, %3; selp.b32 %1, 1, 0, p; }"\
                     : "=r"(same), "=r"(*all)                                              \
                     : letter(bits), "r"(mask));                                           \
        return same;                                                                       \
    }
WARPBOOK_MATCH(int, value, "b32", "r")
WARPBOOK_MATCH(unsigned int, value, "b32", "r")
WARPBOOK_MATCH(long long, value, "b64", "l")
WARPBOOK_MATCH(unsigned long long, value, "b64", "l")
#if __SIZEOF_LONG__ == 8
WARPBOOK_MATCH(long, value, "b64", "l")
WARPBOOK_MATCH(unsigned long, value, "b64", "l")
#else
WARPBOOK_MATCH(long, value, "b32", "r")
WARPBOOK_MATCH(unsigned long, value, "b32", "r")
#endif
WARPBOOK_MATCH(float, __builtin_bit_cast(unsigned int, value), "b32", "r")
WARPBOOK_MATCH(double, __builtin_bit_cast(long long, value), "b64", "l")
#undef WARPBOOK_MATCH
#endif

#if WARPBOOK_HAS_SM(800)
#define WARPBOOK_REDUCE(T, name, instruction)                                              \
    WARPBOOK_DEVICE_FN T name(unsigned int mask, T value) {                                \
        T result;                                                                          \
        asm volatile("redux.sync." instruction " %0, %1, %2;"                              \
                     : "=r"(result)                                                        \
                     : "r"(value), "r"(mask));                                             \
        return result;                                                                     \
    }
WARPBOOK_REDUCE(int, __reduce_add_sync, "add.s32")
WARPBOOK_REDUCE(int, __reduce_min_sync, "min.s32")
WARPBOOK_REDUCE(int, __reduce_max_sync, "max.s32")
WARPBOOK_REDUCE(unsigned int, __reduce_add_sync, "add.u32")
WARPBOOK_REDUCE(unsigned int, __reduce_min_sync, "min.u32")
WARPBOOK_REDUCE(unsigned int, __reduce_max_sync, "max.u32")
WARPBOOK_REDUCE(unsigned int, __reduce_and_sync, "and.b32")
WARPBOOK_REDUCE(unsigned int, __reduce_or_sync, "or.b32")
WARPBOOK_REDUCE(unsigned int, __reduce_xor_sync, "xor.b32")
#undef WARPBOOK_REDUCE
#endif
