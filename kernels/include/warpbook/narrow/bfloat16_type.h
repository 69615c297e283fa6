// `__nv_bfloat16` and `__nv_bfloat162`: the types and their conversions.

#pragma once

#include "../../crt/host_defines.h"
#include "../../vector_functions.h"
#include "half_type.h"
#include "rounding.h"

WARPBOOK_NARROW_FN unsigned short warpbook_bfloat16_from(float x, warpbook_rounding mode) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned short bits;
    if (mode == warpbook_rz) asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    else if (mode == warpbook_rn) asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    else bits = warpbook_narrowed<8, 7>(x, mode);
    return bits;
#else
    return warpbook_narrowed<8, 7>(x, mode);
#endif
}
WARPBOOK_NARROW_FN unsigned short warpbook_bfloat16_from(double x, warpbook_rounding mode) {
    return warpbook_narrowed_double<8, 7>(x, mode);
}
WARPBOOK_NARROW_FN float warpbook_bfloat16_to(unsigned short bits) {
    return warpbook_bits_as<float>((unsigned int)bits << 16);
}

#define WARPBOOK_NARROW __nv_bfloat16
#define WARPBOOK_NARROW2 __nv_bfloat162
#define WARPBOOK_NARROW_OTHER __half
#define WARPBOOK_NARROW_RAW __nv_bfloat16_raw
#define WARPBOOK_NARROW2_RAW __nv_bfloat162_raw
#define WARPBOOK_NARROW_FROM warpbook_bfloat16_from
#define WARPBOOK_NARROW_TO warpbook_bfloat16_to
#define WARPBOOK_NAME(before, after) before##bfloat16##after
#define WARPBOOK_NAME2(before, after) before##bfloat162##after
#include "type.h"
#include "conversions.h"
#include "undefine.h"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#if defined(__CUDA__)
#define WARPBOOK_NARROW_MEMBER __attribute__((host, device, always_inline, nodebug)) inline
#else
#define WARPBOOK_NARROW_MEMBER inline
#endif
WARPBOOK_NARROW_MEMBER __nv_bfloat16::__nv_bfloat16(const __half &other)
    : __nv_bfloat16((float)other) {}
WARPBOOK_NARROW_MEMBER __half::__half(const __nv_bfloat16 &other) : __half((float)other) {}
#undef WARPBOOK_NARROW_MEMBER
