// Warp shuffles: values of other lanes.

#pragma once

#include "device_fn.h"
#include "votes.h"

// `clamp` is the last lane that a shuffle may read within its segment; an upward shuffle
// is bounded by the first lane instead, so its clamp is 0. The instruction takes it with
// the segment mask in bits 8 to 12. A 64-bit value is shuffled as two halves.
#define WARPBOOK_SHUFFLE_AS(name, Lane, T, Bits)                                               \
    WARPBOOK_DEVICE_FN T name(unsigned int mask, T value, Lane lane, int width = warpSize) {   \
        return __builtin_bit_cast(T, name(mask, __builtin_bit_cast(Bits, value), lane, width)); \
    }
#define WARPBOOK_SHUFFLE(name, mode, Lane, clamp)                                              \
    WARPBOOK_DEVICE_FN int name(unsigned int mask, int value, Lane lane,                       \
                                int width = warpSize) {                                        \
        return __nvvm_shfl_sync_##mode##_i32(mask, value, (int)lane,                           \
                                             ((warpSize - width) << 8) | clamp);               \
    }                                                                                          \
    WARPBOOK_SHUFFLE_AS(name, Lane, unsigned int, int)                                         \
    WARPBOOK_SHUFFLE_AS(name, Lane, float, int)                                                \
    WARPBOOK_DEVICE_FN unsigned long long name(unsigned int mask, unsigned long long value,    \
                                               Lane lane, int width = warpSize) {              \
        unsigned int low = name(mask, (unsigned int)value, lane, width);                       \
        unsigned int high = name(mask, (unsigned int)(value >> 32), lane, width);              \
        return (unsigned long long)high << 32 | low;                                           \
    }                                                                                          \
    WARPBOOK_SHUFFLE_AS(name, Lane, long long, unsigned long long)                             \
    WARPBOOK_SHUFFLE_AS(name, Lane, double, unsigned long long)                                \
    WARPBOOK_SHUFFLE_AS(name, Lane, long, WARPBOOK_LONG_BITS)                                  \
    WARPBOOK_SHUFFLE_AS(name, Lane, unsigned long, WARPBOOK_LONG_BITS)
#if __SIZEOF_LONG__ == 8
#define WARPBOOK_LONG_BITS unsigned long long
#else
#define WARPBOOK_LONG_BITS unsigned int
#endif
WARPBOOK_SHUFFLE(__shfl_sync, idx, int, 0x1f)
WARPBOOK_SHUFFLE(__shfl_up_sync, up, unsigned int, 0)
WARPBOOK_SHUFFLE(__shfl_down_sync, down, unsigned int, 0x1f)
WARPBOOK_SHUFFLE(__shfl_xor_sync, bfly, int, 0x1f)
#undef WARPBOOK_SHUFFLE
#undef WARPBOOK_SHUFFLE_AS
#undef WARPBOOK_LONG_BITS

// The shuffles of CUDA 8 have no mask: the active lanes take part.
#define WARPBOOK_OLD_SHUFFLE(name, T, Lane)                             \
    WARPBOOK_DEVICE_FN T name(T value, Lane lane, int width = warpSize) { \
        return name##_sync(__activemask(), value, lane, width);         \
    }
#define WARPBOOK_OLD_SHUFFLES(name, Lane)               \
    WARPBOOK_OLD_SHUFFLE(name, int, Lane)               \
    WARPBOOK_OLD_SHUFFLE(name, unsigned int, Lane)      \
    WARPBOOK_OLD_SHUFFLE(name, long, Lane)              \
    WARPBOOK_OLD_SHUFFLE(name, unsigned long, Lane)     \
    WARPBOOK_OLD_SHUFFLE(name, long long, Lane)         \
    WARPBOOK_OLD_SHUFFLE(name, unsigned long long, Lane) \
    WARPBOOK_OLD_SHUFFLE(name, float, Lane)             \
    WARPBOOK_OLD_SHUFFLE(name, double, Lane)
WARPBOOK_OLD_SHUFFLES(__shfl, int)
WARPBOOK_OLD_SHUFFLES(__shfl_up, unsigned int)
WARPBOOK_OLD_SHUFFLES(__shfl_down, unsigned int)
WARPBOOK_OLD_SHUFFLES(__shfl_xor, int)
#undef WARPBOOK_OLD_SHUFFLES
#undef WARPBOOK_OLD_SHUFFLE
