// 8-bit floating point, `__nv_fp8_e4m3`, `__nv_fp8_e5m2` and `__nv_fp8_e8m0`: types and conversions, for host and device.
// Conversions go through double and are correctly rounded, even on GPUs with instructions for them.

#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

// Values beyond the largest number saturate to that number, or become infinity (NaN in
// E4M3, which has no infinity).
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

WARPBOOK_NARROW_FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                             __nv_fp8_interpretation_t kind) {
    const bool e4m3 = kind == __NV_E4M3;
    const int fraction = e4m3 ? 3 : 2, least = e4m3 ? -6 : -14;
    const unsigned int largest = e4m3 ? 0x7e : 0x7b, beyond = e4m3 ? 0x7f : 0x7c;
    const unsigned long long bits = warpbook_bits_as<unsigned long long>(x);
    const unsigned int sign = (unsigned int)(bits >> 63) << 7;
    if (x != x) return 0x7f;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    unsigned int result = beyond;
    if (exponent < 20) {
        if (exponent < least) exponent = least;
        // Fraction in units of the last place; a carry moves into the exponent.
        const double unit = warpbook_bits_as<double>((unsigned long long)(1023 + fraction - exponent) << 52);
        const unsigned int units = (unsigned int)__builtin_rint((x < 0 ? -x : x) * unit);
        result = ((unsigned int)(exponent - least) << fraction) + units;
    }
    if (result > largest) result = saturate == __NV_SATFINITE ? largest : beyond;
    return (__nv_fp8_storage_t)(sign | result);
}
WARPBOOK_NARROW_FN float warpbook_fp8_to_float(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    // E5M2 is the upper half of a half-precision number.
    if (kind == __NV_E5M2) return warpbook_widened<5, 10>((unsigned short)(x << 8));
    if ((x & 0x7f) == 0x7f) return __builtin_nanf("");
    const unsigned int exponent = x >> 3 & 15, fraction = x & 7;
    const float size = exponent == 0
                           ? (float)fraction * 0x1p-9f
                           : warpbook_bits_as<float>((exponent + 120) << 23 | fraction << 20);
    return x & 0x80 ? -size : size;
}

WARPBOOK_NARROW_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                            __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8(x, saturate, kind);
}
WARPBOOK_NARROW_FN __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                              __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8((float)__half(x), saturate, kind);
}
WARPBOOK_NARROW_FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                                  __nv_saturation_t saturate,
                                                                  __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8((float)__nv_bfloat16(x), saturate, kind);
}
WARPBOOK_NARROW_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x,
                                                      __nv_fp8_interpretation_t kind) {
    return __half(warpbook_fp8_to_float(x, kind));
}

// Pairs: the first value in the lower byte.
#define WARPBOOK_FP8_PAIR(name, V, first, second)                                                \
    WARPBOOK_NARROW_FN __nv_fp8x2_storage_t __nv_cvt_##name##_to_fp8x2(                          \
        V v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {                       \
        return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(first, saturate, kind) |            \
                                      __nv_cvt_double_to_fp8(second, saturate, kind) << 8);      \
    }
WARPBOOK_FP8_PAIR(double2, double2, v.x, v.y)
WARPBOOK_FP8_PAIR(float2, float2, v.x, v.y)
WARPBOOK_FP8_PAIR(halfraw2, __half2_raw, (float)__half2(v).x, (float)__half2(v).y)
WARPBOOK_FP8_PAIR(bfloat16raw2, __nv_bfloat162_raw, (float)__nv_bfloat162(v).x,
                  (float)__nv_bfloat162(v).y)
#undef WARPBOOK_FP8_PAIR
WARPBOOK_NARROW_FN __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                                          __nv_fp8_interpretation_t kind) {
    return __half2(__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind),
                   __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind));
}

#if defined(__CUDA__)
#define WARPBOOK_FP8_MEMBER __attribute__((host, device, always_inline, nodebug)) inline
#else
#define WARPBOOK_FP8_MEMBER inline
#endif

// The types: constructed from any number with saturation; one, two and four values.
#define WARPBOOK_FP8(one, kind)                                                                  \
    struct one {                                                                                 \
        __nv_fp8_storage_t __x;                                                                  \
        one() = default;                                                                         \
        template <typename T>                                                                    \
        WARPBOOK_FP8_MEMBER explicit one(T x)                                                    \
            : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, kind)) {}                    \
        WARPBOOK_FP8_MEMBER explicit one(__half x) : one((float)x) {}                            \
        WARPBOOK_FP8_MEMBER explicit one(__nv_bfloat16 x) : one((float)x) {}                     \
        WARPBOOK_FP8_MEMBER explicit operator float() const {                                    \
            return warpbook_fp8_to_float(__x, kind);                                             \
        }                                                                                        \
        WARPBOOK_FP8_MEMBER explicit operator double() const { return (float)*this; }            \
        WARPBOOK_FP8_MEMBER explicit operator __half() const { return __half((float)*this); }    \
        WARPBOOK_FP8_MEMBER explicit operator __nv_bfloat16() const {                            \
            return __nv_bfloat16((float)*this);                                                  \
        }                                                                                        \
        WARPBOOK_FP8_MEMBER explicit operator int() const { return (int)(float)*this; }          \
        WARPBOOK_FP8_MEMBER explicit operator bool() const { return (__x & 0x7f) != 0; }         \
    };
#define WARPBOOK_FP8_MANY(one, two, four, kind)                                                  \
    WARPBOOK_FP8(one, kind)                                                                      \
    struct __align__(2) two {                                                                    \
        __nv_fp8x2_storage_t __x;                                                                \
        two() = default;                                                                         \
        WARPBOOK_FP8_MEMBER explicit two(float2 v)                                               \
            : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind)) {}                          \
        WARPBOOK_FP8_MEMBER explicit two(__half2 v) : two(__half22float2(v)) {}                  \
        WARPBOOK_FP8_MEMBER explicit two(__nv_bfloat162 v) : two(__bfloat1622float2(v)) {}       \
        WARPBOOK_FP8_MEMBER explicit two(double2 v)                                              \
            : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kind)) {}                         \
        WARPBOOK_FP8_MEMBER explicit operator float2() const {                                   \
            return make_float2(warpbook_fp8_to_float((__nv_fp8_storage_t)__x, kind),             \
                               warpbook_fp8_to_float((__nv_fp8_storage_t)(__x >> 8), kind));     \
        }                                                                                        \
        WARPBOOK_FP8_MEMBER explicit operator __half2() const {                                  \
            return __float22half2_rn((float2) * this);                                           \
        }                                                                                        \
    };                                                                                           \
    struct __align__(4) four {                                                                   \
        __nv_fp8x4_storage_t __x;                                                                \
        four() = default;                                                                        \
        WARPBOOK_FP8_MEMBER explicit four(float4 v)                                              \
            : __x((unsigned int)two(make_float2(v.x, v.y)).__x |                                 \
                  (unsigned int)two(make_float2(v.z, v.w)).__x << 16) {}                         \
        WARPBOOK_FP8_MEMBER explicit four(__half2 low, __half2 high)                             \
            : __x((unsigned int)two(low).__x | (unsigned int)two(high).__x << 16) {}             \
        WARPBOOK_FP8_MEMBER explicit four(__nv_bfloat162 low, __nv_bfloat162 high)               \
            : __x((unsigned int)two(low).__x | (unsigned int)two(high).__x << 16) {}             \
        WARPBOOK_FP8_MEMBER explicit operator float4() const {                                   \
            two low, high;                                                                       \
            low.__x = (__nv_fp8x2_storage_t)__x;                                                 \
            high.__x = (__nv_fp8x2_storage_t)(__x >> 16);                                        \
            const float2 a = (float2)low, b = (float2)high;                                      \
            return make_float4(a.x, a.y, b.x, b.y);                                              \
        }                                                                                        \
    };
WARPBOOK_FP8_MANY(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
WARPBOOK_FP8_MANY(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef WARPBOOK_FP8
#undef WARPBOOK_FP8_MANY

// E8M0, the scale of blocks of narrow numbers: an exponent without sign and fraction. 0xff is NaN, any other value x is
// the power 2^(x - 127).

// Converts the magnitude of a number. Numbers between two powers become the lower one with `cudaRoundZero`, otherwise the
// higher one; those beyond the largest power become that power or NaN.
WARPBOOK_NARROW_FN __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t saturate,
                                                              enum cudaRoundMode rounding) {
    const unsigned long long bits = warpbook_bits_as<unsigned long long>(x) & ~0ull >> 1;
    if (x != x) return 0xff;
    int exponent = (int)(bits >> 52) - 1023;
    if (rounding != cudaRoundZero && bits << 12 != 0) exponent++;
    if (exponent < -127) return 0;
    if (exponent > 127) return saturate == __NV_SATFINITE ? 0xfe : 0xff;
    return (__nv_fp8_storage_t)(exponent + 127);
}
WARPBOOK_NARROW_FN __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t saturate,
                                                             enum cudaRoundMode rounding) {
    return __nv_cvt_double_to_e8m0(x, saturate, rounding);
}
WARPBOOK_NARROW_FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x,
                                                                   __nv_saturation_t saturate,
                                                                   enum cudaRoundMode rounding) {
    return __nv_cvt_double_to_e8m0((float)__nv_bfloat16(x), saturate, rounding);
}
WARPBOOK_NARROW_FN float warpbook_e8m0_to_float(__nv_fp8_storage_t x) {
    if (x == 0xff) return __builtin_nanf("");
    return warpbook_bits_as<float>(x == 0 ? 1u << 22 : (unsigned int)x << 23);
}
WARPBOOK_NARROW_FN __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
    return __nv_bfloat16(warpbook_e8m0_to_float(x));
}

struct __nv_fp8_e8m0 {
    __nv_fp8_storage_t __x;
    __nv_fp8_e8m0() = default;
    template <typename T>
    WARPBOOK_FP8_MEMBER explicit __nv_fp8_e8m0(T x)
        : __x(__nv_cvt_double_to_e8m0((double)x, __NV_SATFINITE, cudaRoundPosInf)) {}
    WARPBOOK_FP8_MEMBER explicit __nv_fp8_e8m0(__half x) : __nv_fp8_e8m0((float)x) {}
    WARPBOOK_FP8_MEMBER explicit __nv_fp8_e8m0(__nv_bfloat16 x) : __nv_fp8_e8m0((float)x) {}
    WARPBOOK_FP8_MEMBER explicit operator float() const { return warpbook_e8m0_to_float(__x); }
    WARPBOOK_FP8_MEMBER explicit operator double() const { return (float)*this; }
    WARPBOOK_FP8_MEMBER explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }
    WARPBOOK_FP8_MEMBER explicit operator bool() const { return true; }
};
#undef WARPBOOK_FP8_MEMBER
