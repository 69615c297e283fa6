// Integer functions: products, bits, sums of absolute differences, dot products.

#pragma once

#include "core.h"

// Multiplies the lowest 24 bits of both, signed and unsigned.
__CUDA_MATH int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
__CUDA_MATH unsigned int __umul24(unsigned int x, unsigned int y) {
    return (x & 0xffffffu) * (y & 0xffffffu);
}
__CUDA_MATH int __mulhi(int x, int y) { return __nvvm_mulhi_i(x, y); }
__CUDA_MATH unsigned int __umulhi(unsigned int x, unsigned int y) { return __nvvm_mulhi_ui(x, y); }
__CUDA_MATH long long __mul64hi(long long x, long long y) { return __nvvm_mulhi_ll(x, y); }
__CUDA_MATH unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return __nvvm_mulhi_ull(x, y);
}
__CUDA_MATH int mulhi(int x, int y) { return __nvvm_mulhi_i(x, y); }
__CUDA_MATH unsigned int mulhi(unsigned int x, unsigned int y) { return __nvvm_mulhi_ui(x, y); }
__CUDA_MATH int mul24(int x, int y) { return __mul24(x, y); }
__CUDA_MATH unsigned int umul24(unsigned int x, unsigned int y) { return __umul24(x, y); }

__CUDA_MATH int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
__CUDA_MATH int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
__CUDA_MATH int __ffs(int x) { return x == 0 ? 0 : __builtin_ctz((unsigned int)x) + 1; }
__CUDA_MATH int __ffsll(long long x) { return x == 0 ? 0 : __builtin_ctzll((unsigned long long)x) + 1; }
__CUDA_MATH int __popc(unsigned int x) { return __builtin_popcount(x); }
__CUDA_MATH int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__CUDA_MATH unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
__CUDA_MATH unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

// Selects four of eight bytes; each selector has four bits, of which three are the index.
__CUDA_MATH unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int choice) {
    return __nvvm_prmt(x, y, choice & 0x7777u);
}

// Returns the upper half of hi:lo << by, or the lower half of hi:lo >> by; shifts by up to 31 bits, or 32 (_lc, _rc).
__CUDA_MATH unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int by) {
    unsigned int result;
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(lo), "r"(hi), "r"(by));
    return result;
}
__CUDA_MATH unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int by) {
    unsigned int result;
    asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(lo), "r"(hi), "r"(by));
    return result;
}
__CUDA_MATH unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int by) {
    unsigned int result;
    asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(lo), "r"(hi), "r"(by));
    return result;
}
__CUDA_MATH unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int by) {
    unsigned int result;
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(lo), "r"(hi), "r"(by));
    return result;
}

// Returns |x - y| + z.
__CUDA_MATH unsigned int __sad(int x, int y, unsigned int z) {
    return (x > y ? (unsigned int)x - (unsigned int)y : (unsigned int)y - (unsigned int)x) + z;
}
__CUDA_MATH unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
    return (x > y ? x - y : y - x) + z;
}
// Returns the average, rounded down (__hadd) and up (__rhadd), without overflow of the sum.
__CUDA_MATH int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
__CUDA_MATH int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
__CUDA_MATH unsigned int __uhadd(unsigned int x, unsigned int y) { return (x & y) + ((x ^ y) >> 1); }
__CUDA_MATH unsigned int __urhadd(unsigned int x, unsigned int y) { return (x | y) - ((x ^ y) >> 1); }

// Returns the sum of the products of four bytes (dp4a), or of two 16-bit halves with two of
// the bytes (dp2a). GPUs before sm_61 have no instruction for it.
namespace __cuda_math {
template <class A, class B> __CUDA_MATH int dot_of_bytes(int a, int b, int sum) {
    for (int i = 0; i < 32; i += 8) sum += (int)(A)(a >> i) * (int)(B)(b >> i);
    return sum;
}
template <class Half, class Byte> __CUDA_MATH int dot_of_halves(int a, int b, int sum) {
    for (int i = 0; i < 2; i++) sum += (int)(Half)(a >> (16 * i)) * (int)(Byte)(b >> (8 * i));
    return sum;
}
} // namespace __cuda_math

#if __CUDA_ARCH__ >= 610
#define __CUDA_MATH_DOT(instruction, fallback)                                               \
    int result;                                                                              \
    asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"((int)a), "r"((int)b), "r"((int)c)); \
    return result;
#else
#define __CUDA_MATH_DOT(instruction, fallback) return fallback;
#endif
__CUDA_MATH int __dp4a(int a, int b, int c) {
    __CUDA_MATH_DOT("dp4a.s32.s32", (__cuda_math::dot_of_bytes<signed char, signed char>(a, b, c)))
}
__CUDA_MATH unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    __CUDA_MATH_DOT("dp4a.u32.u32",
                    (__cuda_math::dot_of_bytes<unsigned char, unsigned char>((int)a, (int)b, (int)c)))
}
__CUDA_MATH int __dp2a_lo(int a, int b, int c) {
    __CUDA_MATH_DOT("dp2a.lo.s32.s32", (__cuda_math::dot_of_halves<short, signed char>(a, b, c)))
}
__CUDA_MATH unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c) {
    __CUDA_MATH_DOT("dp2a.lo.u32.u32",
                    (__cuda_math::dot_of_halves<unsigned short, unsigned char>((int)a, (int)b, (int)c)))
}
__CUDA_MATH int __dp2a_hi(int a, int b, int c) {
    __CUDA_MATH_DOT("dp2a.hi.s32.s32", (__cuda_math::dot_of_halves<short, signed char>(a, b >> 16, c)))
}
__CUDA_MATH unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c) {
    __CUDA_MATH_DOT("dp2a.hi.u32.u32", (__cuda_math::dot_of_halves<unsigned short, unsigned char>(
                                           (int)a, (int)(b >> 16), (int)c)))
}
#undef __CUDA_MATH_DOT
