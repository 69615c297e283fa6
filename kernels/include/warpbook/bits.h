// Integer functions that the mathematics headers do not define.

#pragma once

#include "../mathematics/integers.h"
#include "../vector_types.h"
#include "device_fn.h"

// Returns the position of the `offset`-th set bit, counted from bit `base` on.
WARPBOOK_DEVICE_FN unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    return __nvvm_fns(mask, base, offset);
}

// Functions under their older names.
WARPBOOK_DEVICE_FN unsigned int umulhi(unsigned int x, unsigned int y) { return __umulhi(x, y); }
WARPBOOK_DEVICE_FN long long mul64hi(long long x, long long y) { return __mul64hi(x, y); }
WARPBOOK_DEVICE_FN unsigned long long umul64hi(unsigned long long x, unsigned long long y) {
    return __umul64hi(x, y);
}

// Dot products of bytes that are given as vectors.
#define WARPBOOK_DOT(name, R, A, B)                                                          \
    WARPBOOK_DEVICE_FN R name(A a, B b, R sum) {                                             \
        return name(__builtin_bit_cast(R, a), __builtin_bit_cast(R, b), sum);                \
    }
WARPBOOK_DOT(__dp4a, int, char4, char4)
WARPBOOK_DOT(__dp4a, unsigned int, uchar4, uchar4)
WARPBOOK_DOT(__dp2a_lo, int, short2, char4)
WARPBOOK_DOT(__dp2a_lo, unsigned int, ushort2, uchar4)
WARPBOOK_DOT(__dp2a_hi, int, short2, char4)
WARPBOOK_DOT(__dp2a_hi, unsigned int, ushort2, uchar4)
#undef WARPBOOK_DOT
