// Fast mathematics, arithmetic with a rounding of one's choice, conversions.

#pragma once

#include "core.h"

// ---- Fast and rough ------------------------------------------------------------

__CUDA_MATH float __sinf(float x) { return __nvvm_sin_approx_f(x); }
__CUDA_MATH float __cosf(float x) { return __nvvm_cos_approx_f(x); }
__CUDA_MATH void __sincosf(float x, float *s, float *c) {
    *s = __nvvm_sin_approx_f(x);
    *c = __nvvm_cos_approx_f(x);
}
__CUDA_MATH float __fdividef(float x, float y) { return __nvvm_div_approx_f(x, y); }
__CUDA_MATH float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
__CUDA_MATH float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.44269502f); }
__CUDA_MATH float __exp2f(float x) { return __nvvm_ex2_approx_f(x); }
__CUDA_MATH float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.32192802f); }
__CUDA_MATH float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
__CUDA_MATH float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.693147182f; }
__CUDA_MATH float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.30103001f; }
__CUDA_MATH float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
__CUDA_MATH float __saturatef(float x) { return __nvvm_saturate_f(x); }
__CUDA_MATH float __tanhf(float x) {
#if __CUDA_ARCH__ >= 750
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return __nvvm_div_approx_f(-2.0f, __nvvm_ex2_approx_f(x * 2.88539004f) + 1.0f) + 1.0f;
#endif
}

// ---- Arithmetic, rounded as the name says: nearest, to zero, up, down -----------

#define __CUDA_MATH_ROUNDED(end, mode)                                                                       \
    __CUDA_MATH float __fadd_##end(float x, float y) { return __nvvm_add_##mode##_f(x, y); }                 \
    __CUDA_MATH float __fsub_##end(float x, float y) { return __nvvm_add_##mode##_f(x, -y); }                \
    __CUDA_MATH float __fmul_##end(float x, float y) { return __nvvm_mul_##mode##_f(x, y); }                 \
    __CUDA_MATH float __fdiv_##end(float x, float y) { return __nvvm_div_##mode##_f(x, y); }                 \
    __CUDA_MATH float __frcp_##end(float x) { return __nvvm_rcp_##mode##_f(x); }                             \
    __CUDA_MATH float __fsqrt_##end(float x) { return __nvvm_sqrt_##mode##_f(x); }                           \
    __CUDA_MATH float __fmaf_##end(float x, float y, float z) { return __nvvm_fma_##mode##_f(x, y, z); }     \
    __CUDA_MATH float __fmaf_ieee_##end(float x, float y, float z) { return __nvvm_fma_##mode##_f(x, y, z); } \
    __CUDA_MATH double __dadd_##end(double x, double y) { return __nvvm_add_##mode##_d(x, y); }              \
    __CUDA_MATH double __dsub_##end(double x, double y) { return __nvvm_add_##mode##_d(x, -y); }             \
    __CUDA_MATH double __dmul_##end(double x, double y) { return __nvvm_mul_##mode##_d(x, y); }              \
    __CUDA_MATH double __ddiv_##end(double x, double y) { return __nvvm_div_##mode##_d(x, y); }              \
    __CUDA_MATH double __drcp_##end(double x) { return __nvvm_rcp_##mode##_d(x); }                           \
    __CUDA_MATH double __dsqrt_##end(double x) { return __nvvm_sqrt_##mode##_d(x); }                         \
    __CUDA_MATH double __fma_##end(double x, double y, double z) { return __nvvm_fma_##mode##_d(x, y, z); }  \
    __CUDA_MATH float __double2float_##end(double x) { return __nvvm_d2f_##mode(x); }                        \
    __CUDA_MATH int __float2int_##end(float x) { return __nvvm_f2i_##mode(x); }                              \
    __CUDA_MATH unsigned int __float2uint_##end(float x) { return __nvvm_f2ui_##mode(x); }                   \
    __CUDA_MATH long long __float2ll_##end(float x) { return __nvvm_f2ll_##mode(x); }                        \
    __CUDA_MATH unsigned long long __float2ull_##end(float x) { return __nvvm_f2ull_##mode(x); }             \
    __CUDA_MATH int __double2int_##end(double x) { return __nvvm_d2i_##mode(x); }                            \
    __CUDA_MATH unsigned int __double2uint_##end(double x) { return __nvvm_d2ui_##mode(x); }                 \
    __CUDA_MATH long long __double2ll_##end(double x) { return __nvvm_d2ll_##mode(x); }                      \
    __CUDA_MATH unsigned long long __double2ull_##end(double x) { return __nvvm_d2ull_##mode(x); }           \
    __CUDA_MATH float __int2float_##end(int x) { return __nvvm_i2f_##mode(x); }                              \
    __CUDA_MATH float __uint2float_##end(unsigned int x) { return __nvvm_ui2f_##mode(x); }                   \
    __CUDA_MATH float __ll2float_##end(long long x) { return __nvvm_ll2f_##mode(x); }                        \
    __CUDA_MATH float __ull2float_##end(unsigned long long x) { return __nvvm_ull2f_##mode(x); }             \
    __CUDA_MATH double __ll2double_##end(long long x) { return __nvvm_ll2d_##mode(x); }                      \
    __CUDA_MATH double __ull2double_##end(unsigned long long x) { return __nvvm_ull2d_##mode(x); }

__CUDA_MATH_ROUNDED(rn, rn)
__CUDA_MATH_ROUNDED(rz, rz)
__CUDA_MATH_ROUNDED(ru, rp)
__CUDA_MATH_ROUNDED(rd, rm)
#undef __CUDA_MATH_ROUNDED

// Whole numbers of 32 bits are doubles.
__CUDA_MATH double __int2double_rn(int x) { return x; }
__CUDA_MATH double __uint2double_rn(unsigned int x) { return x; }

// 1/sqrt(x), the nearest float. In double it is a float or nearly halfway between two: then it is found out
// on which side of the middle it lies.
__CUDA_MATH float __frsqrt_rn(float x) {
    const float start = __nvvm_rsqrt_approx_f(x);
    if (!(x > 0.0f && x < __cuda_math::infinity(x))) return start;
    const double wide = 1.0 / __cuda_math::root((double)x);
    const float near = (float)wide;
    const int step = wide > (double)near ? 1 : -1;
    const float other = __cuda_math::as_float(__cuda_math::as_int(near) + step);
    const double middle = 0.5 * ((double)near + (double)other);
    // The sign of x middle² - 1, which no rounding changes.
    const double side = __cuda_math::madd((double)x, middle * middle, -1.0);
    const bool above = side < 0.0;
    return above == (step > 0) ? other : near;
}

// ---- Bits -------------------------------------------------------------------------

__CUDA_MATH int __float_as_int(float x) { return __cuda_math::as_int(x); }
__CUDA_MATH unsigned int __float_as_uint(float x) { return (unsigned int)__cuda_math::as_int(x); }
__CUDA_MATH float __int_as_float(int x) { return __cuda_math::as_float(x); }
__CUDA_MATH float __uint_as_float(unsigned int x) { return __cuda_math::as_float((int)x); }
__CUDA_MATH long long __double_as_longlong(double x) { return __cuda_math::as_long(x); }
__CUDA_MATH double __longlong_as_double(long long x) { return __cuda_math::as_double(x); }
__CUDA_MATH int __double2hiint(double x) { return __cuda_math::high(x); }
__CUDA_MATH int __double2loint(double x) { return (int)__cuda_math::as_long(x); }
__CUDA_MATH double __hiloint2double(int hi, int lo) {
    return __cuda_math::as_double((long long)((unsigned long long)(unsigned int)hi << 32 | (unsigned int)lo));
}
