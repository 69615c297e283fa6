// Rounding to the 16-bit floating-point types in integer arithmetic: for the host, and for
// the conversions that GPUs have no instruction for.

#pragma once

#include <string.h>

#if defined(__CUDA__)
#include "../device_fn.h"
#define WARPBOOK_NARROW_FN WARPBOOK_BOTH_FN
#else
#define WARPBOOK_NARROW_FN static inline
#endif

enum warpbook_rounding { warpbook_rn, warpbook_rz, warpbook_rd, warpbook_ru };

template <typename To, typename From> WARPBOOK_NARROW_FN To warpbook_bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "of one size");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

// Rounds `x` to a sign, `exponent` bits of exponent and `fraction` bits of fraction: 5 and
// 10 for half, 8 and 7 for bfloat16.
template <int exponent, int fraction>
WARPBOOK_NARROW_FN unsigned short warpbook_narrowed(double x, warpbook_rounding mode) {
    const unsigned long long bits = warpbook_bits_as<unsigned long long>(x);
    const unsigned int sign = (unsigned int)(bits >> 63) << 15;
    const unsigned long long infinity = ((1ull << exponent) - 1) << fraction;
    if (x != x) return 0x7fff;
    if (bits << 1 == 0) return (unsigned short)sign;
    if (bits << 1 == 0x7ffull << 53) return (unsigned short)(sign | infinity);
    int e = (int)(bits >> 52 & 0x7ff) - 1023 + (1 << (exponent - 1)) - 1;
    if (e >= (1 << exponent) - 1) {
        // Overflow: rounds to infinity or to the largest finite number.
        const bool outward = mode == warpbook_rn || mode == (sign ? warpbook_rd : warpbook_ru);
        return (unsigned short)(sign | (outward ? infinity : infinity - 1));
    }
    // The exponent and the fraction are adjacent, so that a carry moves into the exponent;
    // below the smallest normal number the fraction is shifted right.
    unsigned long long whole = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    int shift = 52 - fraction;
    if (e < 1) {
        shift += 1 - e;
        e = 1;
    }
    if (shift > 63) {
        whole = 1;
        shift = 63;
    }
    const unsigned long long kept = whole >> shift, rest = whole & ((1ull << shift) - 1);
    const unsigned long long half = 1ull << (shift - 1);
    bool up = false;
    if (mode == warpbook_rn) up = rest > half || (rest == half && (kept & 1));
    else if (mode != warpbook_rz) up = rest != 0 && mode == (sign ? warpbook_rd : warpbook_ru);
    // `kept` has the implicit bit, which adds one to the exponent.
    return (unsigned short)(sign | (((unsigned long long)(e - 1) << fraction) + kept + up));
}

// Rounds likewise, but keeps the sign and the upper bits of a NaN.
template <int exponent, int fraction>
WARPBOOK_NARROW_FN unsigned short warpbook_narrowed_double(double x, warpbook_rounding mode) {
    if (x == x) return warpbook_narrowed<exponent, fraction>(x, mode);
    const unsigned long long bits = warpbook_bits_as<unsigned long long>(x);
    const unsigned int quiet = ((2u << exponent) - 1) << (fraction - 1);
    return (unsigned short)(bits >> 63 << 15 | quiet | (bits >> (52 - fraction) & ((1u << fraction) - 1)));
}

template <int exponent, int fraction>
WARPBOOK_NARROW_FN float warpbook_widened(unsigned short bits) {
    const int bias = (1 << (exponent - 1)) - 1;
    const unsigned int sign = (unsigned int)(bits >> 15) << 31;
    const unsigned int e = bits >> fraction & ((1u << exponent) - 1);
    const unsigned int f = bits & ((1u << fraction) - 1);
    if (e == (1u << exponent) - 1)
        return warpbook_bits_as<float>(sign | 0x7f800000u | f << (23 - fraction));
    if (e == 0) {
        const float size = (float)f * warpbook_bits_as<float>((unsigned int)(128 - bias - fraction) << 23);
        return warpbook_bits_as<float>(sign | warpbook_bits_as<unsigned int>(size));
    }
    return warpbook_bits_as<float>(sign | (e + 127 - (unsigned int)bias) << 23 | f << (23 - fraction));
}

// Returns a 64-bit integer as a double rounded to odd: the last bit is set if it is
// inexact, so that rounding again gives the same result as rounding the integer.
WARPBOOK_NARROW_FN double warpbook_odd(unsigned long long x) {
    if (x >> 53 == 0) return (double)x;
    const int shift = 11;
    const unsigned long long top = x >> shift | ((x & ((1ull << shift) - 1)) != 0);
    return (double)top * (double)(1 << shift);
}
WARPBOOK_NARROW_FN double warpbook_odd(long long x) {
    return x < 0 ? -warpbook_odd(0ull - (unsigned long long)x) : warpbook_odd((unsigned long long)x);
}

// Returns x * y + z of narrow numbers, rounded to odd: the product is exact.
WARPBOOK_NARROW_FN double warpbook_odd_fma(float x, float y, float z) {
    const double product = (double)x * y, sum = product + z;
    const double part = sum - product, rest = (product - (sum - part)) + (z - part);
    unsigned long long bits = warpbook_bits_as<unsigned long long>(sum);
    if (rest != rest || rest == 0 || (bits & 1)) return sum;
    return warpbook_bits_as<double>((rest > 0) == (sum > 0) ? bits + 1 : bits - 1);
}
