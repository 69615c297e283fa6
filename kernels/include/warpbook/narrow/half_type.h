// `__half` and `__half2`: the types and their conversions.

#pragma once

#include "../../crt/host_defines.h"
#include "../../vector_functions.h"
#include "rounding.h"

// Converts between the bits of a half and the types that instructions take.
WARPBOOK_NARROW_FN unsigned short warpbook_half_from(float x, warpbook_rounding mode) {
#if defined(__CUDA_ARCH__)
    unsigned short bits;
    if (mode == warpbook_rz) asm("cvt.rz.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    else if (mode == warpbook_rn) asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    else bits = warpbook_narrowed<5, 10>(x, mode);
    return bits;
#else
    return warpbook_narrowed<5, 10>(x, mode);
#endif
}
WARPBOOK_NARROW_FN unsigned short warpbook_half_from(double x, warpbook_rounding mode) {
    return warpbook_narrowed_double<5, 10>(x, mode);
}
WARPBOOK_NARROW_FN float warpbook_half_to(unsigned short bits) {
#if defined(__CUDA_ARCH__)
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
#else
    return warpbook_widened<5, 10>(bits);
#endif
}

#define WARPBOOK_NARROW __half
#define WARPBOOK_NARROW2 __half2
#define WARPBOOK_NARROW_OTHER __nv_bfloat16
#define WARPBOOK_NARROW_RAW __half_raw
#define WARPBOOK_NARROW2_RAW __half2_raw
#define WARPBOOK_NARROW_FROM warpbook_half_from
#define WARPBOOK_NARROW_TO warpbook_half_to
#define WARPBOOK_NAME(before, after) before##half##after
#define WARPBOOK_NAME2(before, after) before##half2##after
#include "type.h"
#include "conversions.h"
#include "undefine.h"

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
