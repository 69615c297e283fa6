// Arithmetic with explicit rounding, and conversions.

#pragma once

#include "core.h"

// ---- Arithmetic, rounded as the name says: nearest, to zero, up, down -----------

// With -ftz=true subnormal floats are flushed to 0, both operands and results.
#if defined(__CUDA_FTZ)
#define __CUDA_MATH_FTZ ".ftz"
#else
#define __CUDA_MATH_FTZ
#endif

#define __CUDA_MATH_ROUNDED(end, mode, f, i)                                                                       \
    __CUDA_MATH float __fdiv_##end(float x, float y) { return __nvvm_div_##mode##_##f(x, y); }                 \
    __CUDA_MATH float __frcp_##end(float x) { return __nvvm_rcp_##mode##_##f(x); }                             \
    __CUDA_MATH float __fsqrt_##end(float x) { return __nvvm_sqrt_##mode##_##f(x); }                           \
    __CUDA_MATH float __fmaf_##end(float x, float y, float z) { return __nvvm_fma_##mode##_##f(x, y, z); }     \
    __CUDA_MATH float __fmaf_ieee_##end(float x, float y, float z) { return __nvvm_fma_##mode##_f(x, y, z); } \
    __CUDA_MATH double __ddiv_##end(double x, double y) { return __nvvm_div_##mode##_d(x, y); }              \
    __CUDA_MATH double __drcp_##end(double x) { return __nvvm_rcp_##mode##_d(x); }                           \
    __CUDA_MATH double __dsqrt_##end(double x) { return __nvvm_sqrt_##mode##_d(x); }                         \
    __CUDA_MATH double __fma_##end(double x, double y, double z) { return __nvvm_fma_##mode##_d(x, y, z); }  \
    __CUDA_MATH int __float2int_##end(float x) { return __nvvm_f2i_##mode##i(x); }                              \
    __CUDA_MATH unsigned int __float2uint_##end(float x) { return __nvvm_f2ui_##mode##i(x); }                   \
    __CUDA_MATH long long __float2ll_##end(float x) { return __nvvm_f2ll_##mode##i(x); }                        \
    __CUDA_MATH unsigned long long __float2ull_##end(float x) { return __nvvm_f2ull_##mode##i(x); }             \
    __CUDA_MATH int __double2int_##end(double x) { return __nvvm_d2i_##mode(x); }                            \
    __CUDA_MATH unsigned int __double2uint_##end(double x) { return __nvvm_d2ui_##mode(x); }                 \
    __CUDA_MATH long long __double2ll_##end(double x) { return __nvvm_d2ll_##mode(x); }                      \
    __CUDA_MATH unsigned long long __double2ull_##end(double x) { return __nvvm_d2ull_##mode(x); }

// The functions that round to nearest are never contracted with neighbouring operations.
#define __CUDA_MATH_NEAREST(name, instruction)                                           \
    __CUDA_MATH float name(float x, float y) {                                           \
        float result;                                                                    \
        asm(instruction __CUDA_MATH_FTZ ".f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y)); \
        return result;                                                                   \
    }
__CUDA_MATH_NEAREST(__fadd_rn, "add.rn")
__CUDA_MATH_NEAREST(__fsub_rn, "sub.rn")
__CUDA_MATH_NEAREST(__fmul_rn, "mul.rn")
#undef __CUDA_MATH_NEAREST
__CUDA_MATH double __dadd_rn(double x, double y) { return __cuda_math::add(x, y); }
__CUDA_MATH double __dsub_rn(double x, double y) { return __cuda_math::sub(x, y); }
__CUDA_MATH double __dmul_rn(double x, double y) { return __cuda_math::mul(x, y); }
#define __CUDA_MATH_DIRECTED(end, mode, f, i)                                                          \
    __CUDA_MATH float __fadd_##end(float x, float y) { return __nvvm_add_##mode##_##f(x, y); }     \
    __CUDA_MATH float __fsub_##end(float x, float y) { return __nvvm_add_##mode##_##f(x, -y); }    \
    __CUDA_MATH float __fmul_##end(float x, float y) { return __nvvm_mul_##mode##_##f(x, y); }     \
    __CUDA_MATH double __dadd_##end(double x, double y) { return __nvvm_add_##mode##_d(x, y); }  \
    __CUDA_MATH double __dsub_##end(double x, double y) { return __nvvm_add_##mode##_d(x, -y); } \
    __CUDA_MATH double __dmul_##end(double x, double y) { return __nvvm_mul_##mode##_d(x, y); }
// Suffixes of the builtins' names.
#if defined(__CUDA_FTZ)
#define __CUDA_MATH_ALL(each)    \
    each(rz, rz, ftz_f, _ftz)    \
    each(ru, rp, ftz_f, _ftz)    \
    each(rd, rm, ftz_f, _ftz)
#else
#define __CUDA_MATH_ALL(each)    \
    each(rz, rz, f, )            \
    each(ru, rp, f, )            \
    each(rd, rm, f, )
#endif
__CUDA_MATH_ALL(__CUDA_MATH_DIRECTED)
#undef __CUDA_MATH_DIRECTED

#if defined(__CUDA_FTZ)
__CUDA_MATH_ROUNDED(rn, rn, ftz_f, _ftz)
#else
__CUDA_MATH_ROUNDED(rn, rn, f, )
#endif
__CUDA_MATH_ALL(__CUDA_MATH_ROUNDED)
#undef __CUDA_MATH_ALL
#undef __CUDA_MATH_ROUNDED
#undef __CUDA_MATH_FTZ

// clang's builtins for these round to nearest whatever their names say, so PTX is written out.
#define __CUDA_MATH_CONVERTED(end, mode, name, To, to, ptx_to, From, from, ptx_from)              \
    __CUDA_MATH To name##_##end(From x) {                                                         \
        To result;                                                                                \
        asm("cvt." mode "." ptx_to "." ptx_from " %0, %1;" : "=" to(result) : from(x));           \
        return result;                                                                            \
    }
#define __CUDA_MATH_CONVERSIONS(end, mode)                                                                    \
    __CUDA_MATH_CONVERTED(end, mode, __double2float, float, "f", "f32", double, "d", "f64")                   \
    __CUDA_MATH_CONVERTED(end, mode, __int2float, float, "f", "f32", int, "r", "s32")                         \
    __CUDA_MATH_CONVERTED(end, mode, __uint2float, float, "f", "f32", unsigned int, "r", "u32")               \
    __CUDA_MATH_CONVERTED(end, mode, __ll2float, float, "f", "f32", long long, "l", "s64")                    \
    __CUDA_MATH_CONVERTED(end, mode, __ull2float, float, "f", "f32", unsigned long long, "l", "u64")          \
    __CUDA_MATH_CONVERTED(end, mode, __ll2double, double, "d", "f64", long long, "l", "s64")                  \
    __CUDA_MATH_CONVERTED(end, mode, __ull2double, double, "d", "f64", unsigned long long, "l", "u64")
__CUDA_MATH_CONVERSIONS(rn, "rn")
__CUDA_MATH_CONVERSIONS(rz, "rz")
__CUDA_MATH_CONVERSIONS(ru, "rp")
__CUDA_MATH_CONVERSIONS(rd, "rm")
#undef __CUDA_MATH_CONVERSIONS
#undef __CUDA_MATH_CONVERTED

// Every 32-bit integer is exactly a double.
__CUDA_MATH double __int2double_rn(int x) { return x; }
__CUDA_MATH double __uint2double_rn(unsigned int x) { return x; }

// Returns 1/sqrt(x), rounded to the nearest float. In double the result is a float or nearly
// halfway between two; then an exact test finds the side of the midpoint.
__CUDA_MATH float __frsqrt_rn(float x) {
    const float start = __nvvm_rsqrt_approx_f(x);
    if (!(x > 0.0f && x < __cuda_math::infinity(x))) return start;
    const double wide = 1.0 / __cuda_math::root((double)x);
    const float near = (float)wide;
    const int step = wide > (double)near ? 1 : -1;
    const float other = __cuda_math::as_float(__cuda_math::as_int(near) + step);
    const double middle = 0.5 * ((double)near + (double)other);
    // The sign of x middle² - 1, which rounding does not change.
    const double side = __cuda_math::madd((double)x, middle * middle, -1.0);
    const bool above = side < 0.0;
    return above == (step > 0) ? other : near;
}
