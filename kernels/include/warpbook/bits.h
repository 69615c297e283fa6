// Integer arithmetic by the bit: counting, reversing, shifting, averages, products.

#pragma once

#include "device_fn.h"

WARPBOOK_DEVICE_FN int __popc(unsigned int x) { return __builtin_popcount(x); }
WARPBOOK_DEVICE_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
WARPBOOK_DEVICE_FN int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
WARPBOOK_DEVICE_FN int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
WARPBOOK_DEVICE_FN int __ffs(int x) { return __builtin_ffs(x); }
WARPBOOK_DEVICE_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
WARPBOOK_DEVICE_FN unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
WARPBOOK_DEVICE_FN unsigned long long __brevll(unsigned long long x) {
    return __builtin_bitreverse64(x);
}
WARPBOOK_DEVICE_FN unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    return __nvvm_fns(mask, base, offset);
}

// The lowest 24 bits of both factors; the upper half of a product.
WARPBOOK_DEVICE_FN int __mul24(int x, int y) { return __nvvm_mul24_i(x, y); }
WARPBOOK_DEVICE_FN unsigned int __umul24(unsigned int x, unsigned int y) {
    return __nvvm_mul24_ui(x, y);
}
WARPBOOK_DEVICE_FN int mul24(int x, int y) { return __mul24(x, y); }
WARPBOOK_DEVICE_FN unsigned int umul24(unsigned int x, unsigned int y) { return __umul24(x, y); }
WARPBOOK_DEVICE_FN int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
WARPBOOK_DEVICE_FN unsigned int __umulhi(unsigned int x, unsigned int y) {
    return (unsigned int)((unsigned long long)x * y >> 32);
}
WARPBOOK_DEVICE_FN long long __mul64hi(long long x, long long y) {
    return __nvvm_mulhi_ll(x, y);
}
WARPBOOK_DEVICE_FN unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return __nvvm_mulhi_ull(x, y);
}
WARPBOOK_DEVICE_FN int mulhi(int x, int y) { return __mulhi(x, y); }
WARPBOOK_DEVICE_FN unsigned int umulhi(unsigned int x, unsigned int y) { return __umulhi(x, y); }
WARPBOOK_DEVICE_FN long long mul64hi(long long x, long long y) { return __mul64hi(x, y); }
WARPBOOK_DEVICE_FN unsigned long long umul64hi(unsigned long long x, unsigned long long y) {
    return __umul64hi(x, y);
}

// Averages, rounded down and up, without overflow.
WARPBOOK_DEVICE_FN int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
WARPBOOK_DEVICE_FN int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
WARPBOOK_DEVICE_FN unsigned int __uhadd(unsigned int x, unsigned int y) {
    return (unsigned int)(((unsigned long long)x + y) >> 1);
}
WARPBOOK_DEVICE_FN unsigned int __urhadd(unsigned int x, unsigned int y) {
    return (unsigned int)(((unsigned long long)x + y + 1) >> 1);
}

// |x - y| + z.
WARPBOOK_DEVICE_FN unsigned int __sad(int x, int y, unsigned int z) {
    return (x < y ? (unsigned int)y - (unsigned int)x : (unsigned int)x - (unsigned int)y) + z;
}
WARPBOOK_DEVICE_FN unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
    return (x < y ? y - x : x - y) + z;
}

// Four bytes of eight, each chosen by four bits.
WARPBOOK_DEVICE_FN unsigned int __byte_perm(unsigned int x, unsigned int y,
                                            unsigned int selector) {
    return __nvvm_prmt(x, y, selector);
}

// 32 bits of the 64 that two words make, from `shift` bits on; `c` for shifts above 32.
#define WARPBOOK_FUNNEL(name, instruction)                                              \
    WARPBOOK_DEVICE_FN unsigned int name(unsigned int low, unsigned int high,           \
                                         unsigned int shift) {                          \
        unsigned int result;                                                            \
        asm(instruction " %0, %1, %2, %3;"                                              \
            : "=r"(result)                                                              \
            : "r"(low), "r"(high), "r"(shift));                                         \
        return result;                                                                  \
    }
WARPBOOK_FUNNEL(__funnelshift_l, "shf.l.wrap.b32")
WARPBOOK_FUNNEL(__funnelshift_lc, "shf.l.clamp.b32")
WARPBOOK_FUNNEL(__funnelshift_r, "shf.r.wrap.b32")
WARPBOOK_FUNNEL(__funnelshift_rc, "shf.r.clamp.b32")
#undef WARPBOOK_FUNNEL

// Sums of four products of bytes, or of two of 16 bits with two of 8.
#if WARPBOOK_HAS_SM(610)
#define WARPBOOK_DOT(name, R, A, B, instruction)                                        \
    WARPBOOK_DEVICE_FN R name(A a, B b, R sum) {                                        \
        R result;                                                                       \
        asm(instruction " %0, %1, %2, %3;"                                              \
            : "=r"(result)                                                              \
            : "r"(*(int *)&a), "r"(*(int *)&b), "r"(sum));                              \
        return result;                                                                  \
    }
WARPBOOK_DOT(__dp4a, int, int, int, "dp4a.s32.s32")
WARPBOOK_DOT(__dp4a, unsigned int, unsigned int, unsigned int, "dp4a.u32.u32")
WARPBOOK_DOT(__dp4a, int, char4, char4, "dp4a.s32.s32")
WARPBOOK_DOT(__dp4a, unsigned int, uchar4, uchar4, "dp4a.u32.u32")
WARPBOOK_DOT(__dp2a_lo, int, int, int, "dp2a.lo.s32.s32")
WARPBOOK_DOT(__dp2a_lo, unsigned int, unsigned int, unsigned int, "dp2a.lo.u32.u32")
WARPBOOK_DOT(__dp2a_lo, int, short2, char4, "dp2a.lo.s32.s32")
WARPBOOK_DOT(__dp2a_lo, unsigned int, ushort2, uchar4, "dp2a.lo.u32.u32")
WARPBOOK_DOT(__dp2a_hi, int, int, int, "dp2a.hi.s32.s32")
WARPBOOK_DOT(__dp2a_hi, unsigned int, unsigned int, unsigned int, "dp2a.hi.u32.u32")
WARPBOOK_DOT(__dp2a_hi, int, short2, char4, "dp2a.hi.s32.s32")
WARPBOOK_DOT(__dp2a_hi, unsigned int, ushort2, uchar4, "dp2a.hi.u32.u32")
#undef WARPBOOK_DOT
#endif
