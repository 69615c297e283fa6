// Argument reduction: angles modulo π/2.

#pragma once

#include "core.h"

namespace __cuda_math {

// An angle from -π/4 to π/4, and the number of quarter turns that were subtracted.
template <class T> struct angle {
    T r, more;
    int quarter;
};

// The bits of 2/π after the binary point, preceded by a word of zeros.
struct two_over_pi {
    static __attribute__((device, always_inline, nodebug)) word64 at(int index) {
        const word64 words[] = {
            0,                     0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
            0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull,
            0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
            0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
            0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull,
        };
        return words[index];
    }
    // Returns 64 of these bits, from bit `start` on.
    static __attribute__((device, always_inline, nodebug)) word64 window(int start) {
        const int index = start >> 6, shift = start & 63;
        const word64 first = at(index);
        return shift == 0 ? first : first << shift | at(index + 1) >> (64 - shift);
    }
};

// Reduces a large angle x = m * 2^(exponent - 63). Only those bits of 2/π matter that contribute less than 4 and
// more than 2^-126: m times these 192 bits has the quarter turns in its top two bits, the remainder below them.
__CUDA_MATH angle<double> of_large_angle(double x) {
    const word64 bits = (word64)as_long(x);
    const word64 m = bits << 11 | 1ull << 63;
    const int start = (int)(bits >> 52 & 0x7ff) - 1023 - 64 + 63;
    const word64 w0 = two_over_pi::window(start), w1 = two_over_pi::window(start + 64),
                 w2 = two_over_pi::window(start + 128);
    const word64 low = __nvvm_mulhi_ull(m, w2), middle_low = m * w1;
    const word64 middle = middle_low + low;
    const word64 top = m * w0 + __nvvm_mulhi_ull(m, w1) + (middle < low ? 1 : 0);
    int quarter = (int)(top >> 62);
    // Remainder as a 128-bit fraction; more than a half is a negative remainder of the next quarter turn.
    word64 a = top << 2 | middle >> 62, b = middle << 2 | (m * w2) >> 62;
    const bool over = (long long)a < 0;
    if (over) {
        quarter++;
        a = ~a + (b == 0 ? 1 : 0);
        b = ~b + 1;
    }
    const int zeros = a == 0 ? 64 : __builtin_clzll(a);
    if (zeros == 64) {
        a = b;
        b = 0;
    } else if (zeros > 0) {
        a = a << zeros | b >> (64 - zeros);
        b <<= zeros;
    }
    const double unit = as_double((long long)(1023 - 53 - zeros) << 52);
    const double f = (double)(a >> 11) * unit;
    const double f_lo = (double)(a << 53 >> 11 | b >> 22) * (unit * 0x1p-53);
    const pair<double> r = product(f, 1.5707963267948966);
    const double lo = madd(f, 6.123233995736766e-17, madd(f_lo, 1.5707963267948966, r.lo));
    const bool turn = over != (x < 0.0);
    const pair<double> whole = sum_of_larger(r.hi, lo);
    return {turn ? -whole.hi : whole.hi, turn ? -whole.lo : whole.lo, x < 0.0 ? -quarter : quarter};
}

// Reduces a large float: 32 bits of m, 96 of 2/π.
__CUDA_MATH angle<float> of_large_angle(float x) {
    const word bits = (word)as_int(x);
    const word m = bits << 8 | 0x80000000u;
    const int start = (int)(bits >> 23 & 0xff) - 127 - 32 + 63;
    const word64 w = two_over_pi::window(start);
    const word w2 = (word)(two_over_pi::window(start + 64) >> 32);
    const word64 low = (word64)m * (word)w + ((word64)m * w2 >> 32);
    const word64 all = ((word64)(m * (word)(w >> 32)) << 32) + low;
    int quarter = (int)(all >> 62);
    word64 a = all << 2;
    const bool over = (long long)a < 0;
    if (over) {
        quarter++;
        a = 0 - a;
    }
    const int zeros = a == 0 ? 63 : __builtin_clzll(a);
    a <<= zeros;
    const float unit = as_float((127 - 24 - zeros) << 23);
    const float f = (float)(int)(a >> 40) * unit;
    const float f_lo = (float)(int)(a >> 16 & 0xffffff) * (unit * 0x1p-24f);
    const pair<float> r = product(f, 1.57079637f);
    const float lo = madd(f, -4.37113883e-08f, madd(f_lo, 1.57079637f, r.lo));
    const bool turn = over != (x < 0.0f);
    const pair<float> whole = sum_of_larger(r.hi, lo);
    return {turn ? -whole.hi : whole.hi, turn ? -whole.lo : whole.lo, x < 0.0f ? -quarter : quarter};
}

__CUDA_MATH angle<double> reduced(double x) {
    if (!(magnitude(x) < 0x1p30)) return of_large_angle(x);
    const double n = nearest(x * 0.6366197723675814);
    // The first step is exact; the second is not, so its rounding error is kept.
    const double first = madd(n, -1.5707963267948966, x);
    const pair<double> second = product(n, 6.123233995736766e-17);
    const pair<double> rest = sum(first, -second.hi);
    const double lo = madd(n, 1.4973849048591698e-33, rest.lo - second.lo);
    const pair<double> whole = sum_of_larger(rest.hi, lo);
    return {whole.hi, whole.lo, (int)n};
}

__CUDA_MATH angle<float> reduced(float x) {
    if (!(magnitude(x) < 105615.0f)) return of_large_angle(x);
    const float n = nearest(x * 0.636619747f);
    const float first = madd(n, -1.57079637f, x);
    const float r = madd(n, 1.71512451e-15f, madd(n, 4.37113883e-08f, first));
    return {r, 0.0f, (int)n};
}

} // namespace __cuda_math
