// E8M0, the scale of blocks of narrow numbers: an exponent without sign and fraction. 0xff is NaN, any other value x is
// the power 2^(x - 127).
//
// Included by cuda_fp8.h.

#pragma once

#include "../../device_types.h"

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
