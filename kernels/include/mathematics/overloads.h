// C++'s names: sin(float), sin(int), std::sin, pow(float, int), isnan, abs, min and max of all types.
//
// clang's forward declarations, which stand before this, have made the functions known in namespace std before
// any C++ library is: its constexpr functions would else be taken for the device's too.

#pragma once

#include "core.h"
#include "error.h"
#include "exp.h"
#include "gamma.h"
#include "bessel.h"
#include "inverse_trigonometric.h"
#include "log.h"
#include "pow.h"
#include "roots.h"
#include "rounding.h"
#include "trigonometric.h"

// The names of the C++ library's own namespaces, where there is one.
#if defined(__has_include)
#if __has_include(<__config>)
#include <__config>
#elif __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#endif
#endif

// ---- Kinds of numbers -----------------------------------------------------------

__CUDA_MATH bool isnan(double x) { return __cuda_math::is_nan(x); }
__CUDA_MATH bool isnan(float x) { return __cuda_math::is_nan(x); }
__CUDA_MATH bool isinf(double x) { return __cuda_math::is_inf(x); }
__CUDA_MATH bool isinf(float x) { return __cuda_math::is_inf(x); }
__CUDA_MATH bool isfinite(double x) { return !__cuda_math::is_inf(x) && !__cuda_math::is_nan(x); }
__CUDA_MATH bool isfinite(float x) { return !__cuda_math::is_inf(x) && !__cuda_math::is_nan(x); }
__CUDA_MATH bool signbit(double x) { return __cuda_math::is_negative(x); }
__CUDA_MATH bool signbit(float x) { return __cuda_math::is_negative(x); }
__CUDA_MATH bool isnormal(double x) { return isfinite(x) && __cuda_math::magnitude(x) >= 0x1p-1022; }
__CUDA_MATH bool isnormal(float x) { return isfinite(x) && __cuda_math::magnitude(x) >= 0x1p-126f; }
__CUDA_MATH int __isnan(double x) { return isnan(x); }
__CUDA_MATH int __isnanf(float x) { return isnan(x); }
__CUDA_MATH int __isinf(double x) { return isinf(x); }
__CUDA_MATH int __isinff(float x) { return isinf(x); }
__CUDA_MATH int __finite(double x) { return isfinite(x); }
__CUDA_MATH int __finitef(float x) { return isfinite(x); }
__CUDA_MATH int __isfinited(double x) { return isfinite(x); }
__CUDA_MATH int __signbit(double x) { return signbit(x); }
__CUDA_MATH int __signbitd(double x) { return signbit(x); }
__CUDA_MATH int __signbitf(float x) { return signbit(x); }

// FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO as the host's library has them.
#if defined(__APPLE__)
#define __CUDA_MATH_KINDS 1, 2, 4, 5, 3
#elif defined(_WIN32)
#define __CUDA_MATH_KINDS 2, 1, -1, -2, 0
#else
#define __CUDA_MATH_KINDS 0, 1, 4, 3, 2
#endif
__CUDA_MATH int fpclassify(double x) { return __builtin_fpclassify(__CUDA_MATH_KINDS, x); }
__CUDA_MATH int fpclassify(float x) { return __builtin_fpclassify(__CUDA_MATH_KINDS, x); }
#undef __CUDA_MATH_KINDS

#define __CUDA_MATH_COMPARED(name)                                                      \
    __CUDA_MATH bool name(double x, double y) { return __builtin_##name(x, y); }        \
    __CUDA_MATH bool name(float x, float y) { return __builtin_##name(x, y); }
__CUDA_MATH_COMPARED(isgreater)
__CUDA_MATH_COMPARED(isgreaterequal)
__CUDA_MATH_COMPARED(isless)
__CUDA_MATH_COMPARED(islessequal)
__CUDA_MATH_COMPARED(islessgreater)
__CUDA_MATH_COMPARED(isunordered)
#undef __CUDA_MATH_COMPARED

// ---- Floats by the names of doubles ------------------------------------------------

#define __CUDA_MATH_ONE(name) \
    __CUDA_MATH float name(float x) { return name##f(x); }
#define __CUDA_MATH_TWO(name) \
    __CUDA_MATH float name(float x, float y) { return name##f(x, y); }
__CUDA_MATH_ONE(acos) __CUDA_MATH_ONE(acosh) __CUDA_MATH_ONE(asin) __CUDA_MATH_ONE(asinh)
__CUDA_MATH_ONE(atan) __CUDA_MATH_ONE(atanh) __CUDA_MATH_ONE(cbrt) __CUDA_MATH_ONE(ceil)
__CUDA_MATH_ONE(cos) __CUDA_MATH_ONE(cosh) __CUDA_MATH_ONE(cospi) __CUDA_MATH_ONE(erf)
__CUDA_MATH_ONE(erfc) __CUDA_MATH_ONE(erfcinv) __CUDA_MATH_ONE(erfcx) __CUDA_MATH_ONE(erfinv)
__CUDA_MATH_ONE(exp) __CUDA_MATH_ONE(exp10) __CUDA_MATH_ONE(exp2) __CUDA_MATH_ONE(expm1)
__CUDA_MATH_ONE(fabs) __CUDA_MATH_ONE(floor) __CUDA_MATH_ONE(lgamma) __CUDA_MATH_ONE(log)
__CUDA_MATH_ONE(log10) __CUDA_MATH_ONE(log1p) __CUDA_MATH_ONE(log2) __CUDA_MATH_ONE(logb)
__CUDA_MATH_ONE(nearbyint) __CUDA_MATH_ONE(normcdf) __CUDA_MATH_ONE(normcdfinv) __CUDA_MATH_ONE(rcbrt)
__CUDA_MATH_ONE(rint) __CUDA_MATH_ONE(round) __CUDA_MATH_ONE(rsqrt) __CUDA_MATH_ONE(sin)
__CUDA_MATH_ONE(sinh) __CUDA_MATH_ONE(sinpi) __CUDA_MATH_ONE(sqrt) __CUDA_MATH_ONE(tan)
__CUDA_MATH_ONE(tanh) __CUDA_MATH_ONE(tgamma) __CUDA_MATH_ONE(trunc)
__CUDA_MATH_ONE(j0) __CUDA_MATH_ONE(j1) __CUDA_MATH_ONE(y0) __CUDA_MATH_ONE(y1)
__CUDA_MATH_ONE(cyl_bessel_i0) __CUDA_MATH_ONE(cyl_bessel_i1)
__CUDA_MATH_TWO(atan2) __CUDA_MATH_TWO(copysign) __CUDA_MATH_TWO(fdim) __CUDA_MATH_TWO(fmax)
__CUDA_MATH_TWO(fmin) __CUDA_MATH_TWO(fmod) __CUDA_MATH_TWO(hypot) __CUDA_MATH_TWO(nextafter)
__CUDA_MATH_TWO(pow) __CUDA_MATH_TWO(remainder) __CUDA_MATH_TWO(rhypot) __CUDA_MATH_TWO(fdivide)
#undef __CUDA_MATH_ONE
#undef __CUDA_MATH_TWO
__CUDA_MATH float jn(int n, float x) { return jnf(n, x); }
__CUDA_MATH float yn(int n, float x) { return ynf(n, x); }
__CUDA_MATH float fma(float x, float y, float z) { return fmaf(x, y, z); }
__CUDA_MATH float frexp(float x, int *n) { return frexpf(x, n); }
__CUDA_MATH float ldexp(float x, int n) { return ldexpf(x, n); }
__CUDA_MATH float scalbn(float x, int n) { return scalbnf(x, n); }
__CUDA_MATH float scalbln(float x, long n) { return scalblnf(x, n); }
__CUDA_MATH float modf(float x, float *n) { return modff(x, n); }
__CUDA_MATH float remquo(float x, float y, int *n) { return remquof(x, y, n); }
__CUDA_MATH int ilogb(float x) { return ilogbf(x); }
__CUDA_MATH long lrint(float x) { return lrintf(x); }
__CUDA_MATH long lround(float x) { return lroundf(x); }
__CUDA_MATH long long llrint(float x) { return llrintf(x); }
__CUDA_MATH long long llround(float x) { return llroundf(x); }
__CUDA_MATH void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
__CUDA_MATH void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
__CUDA_MATH float pow(float x, int n) { return powif(x, n); }
__CUDA_MATH double pow(double x, int n) { return powi(x, n); }

// ---- Whole numbers --------------------------------------------------------------------

__CUDA_MATH int abs(int x) { return x < 0 ? -x : x; }
__CUDA_MATH long abs(long x) { return x < 0 ? -x : x; }
__CUDA_MATH long long abs(long long x) { return x < 0 ? -x : x; }
__CUDA_MATH float abs(float x) { return fabsf(x); }
__CUDA_MATH double abs(double x) { return fabs(x); }
__CUDA_MATH long labs(long x) { return x < 0 ? -x : x; }
__CUDA_MATH long long llabs(long long x) { return x < 0 ? -x : x; }

#include "least_and_most.h"

// ---- Numbers that are neither floats nor doubles count as doubles --------------------------

namespace __cuda_math {
template <bool is, class T> struct only_if {};
template <class T> struct only_if<true, T> {
    typedef T type;
};
template <class Number, class T> struct if_whole : only_if<__is_integral(Number), T> {};
template <class A, class B, class T>
struct if_numbers : only_if<__is_arithmetic(A) && __is_arithmetic(B), T> {};
} // namespace __cuda_math

#define __CUDA_MATH_ONE(result, name)                                                                  \
    template <class T> __CUDA_MATH typename __cuda_math::if_whole<T, result>::type name(T x) {         \
        return ::name((double)x);                                                                      \
    }
#define __CUDA_MATH_TWO(result, name)                                                                  \
    template <class A, class B>                                                                        \
    __CUDA_MATH typename __cuda_math::if_numbers<A, B, result>::type name(A x, B y) {                  \
        return ::name((double)x, (double)y);                                                           \
    }
__CUDA_MATH_ONE(double, acos) __CUDA_MATH_ONE(double, acosh) __CUDA_MATH_ONE(double, asin)
__CUDA_MATH_ONE(double, asinh) __CUDA_MATH_ONE(double, atan) __CUDA_MATH_ONE(double, atanh)
__CUDA_MATH_ONE(double, cbrt) __CUDA_MATH_ONE(double, ceil) __CUDA_MATH_ONE(double, cos)
__CUDA_MATH_ONE(double, cosh) __CUDA_MATH_ONE(double, erf) __CUDA_MATH_ONE(double, erfc)
__CUDA_MATH_ONE(double, exp) __CUDA_MATH_ONE(double, exp2) __CUDA_MATH_ONE(double, exp10)
__CUDA_MATH_ONE(double, expm1) __CUDA_MATH_ONE(double, fabs) __CUDA_MATH_ONE(double, floor)
__CUDA_MATH_ONE(double, lgamma) __CUDA_MATH_ONE(double, log) __CUDA_MATH_ONE(double, log10)
__CUDA_MATH_ONE(double, log1p) __CUDA_MATH_ONE(double, log2) __CUDA_MATH_ONE(double, logb)
__CUDA_MATH_ONE(double, nearbyint) __CUDA_MATH_ONE(double, rint) __CUDA_MATH_ONE(double, round)
__CUDA_MATH_ONE(double, rsqrt) __CUDA_MATH_ONE(double, sin) __CUDA_MATH_ONE(double, sinh)
__CUDA_MATH_ONE(double, sqrt) __CUDA_MATH_ONE(double, tan) __CUDA_MATH_ONE(double, tanh)
__CUDA_MATH_ONE(double, tgamma) __CUDA_MATH_ONE(double, trunc)
__CUDA_MATH_ONE(int, ilogb) __CUDA_MATH_ONE(int, fpclassify) __CUDA_MATH_ONE(bool, isfinite)
__CUDA_MATH_ONE(bool, isinf) __CUDA_MATH_ONE(bool, isnan) __CUDA_MATH_ONE(bool, isnormal)
__CUDA_MATH_ONE(bool, signbit) __CUDA_MATH_ONE(long, lrint) __CUDA_MATH_ONE(long, lround)
__CUDA_MATH_ONE(long long, llrint) __CUDA_MATH_ONE(long long, llround)
__CUDA_MATH_TWO(double, atan2) __CUDA_MATH_TWO(double, copysign) __CUDA_MATH_TWO(double, fdim)
__CUDA_MATH_TWO(double, fmax) __CUDA_MATH_TWO(double, fmin) __CUDA_MATH_TWO(double, fmod)
__CUDA_MATH_TWO(double, hypot) __CUDA_MATH_TWO(double, nextafter) __CUDA_MATH_TWO(double, pow)
__CUDA_MATH_TWO(double, remainder)
__CUDA_MATH_TWO(bool, isgreater) __CUDA_MATH_TWO(bool, isgreaterequal) __CUDA_MATH_TWO(bool, isless)
__CUDA_MATH_TWO(bool, islessequal) __CUDA_MATH_TWO(bool, islessgreater) __CUDA_MATH_TWO(bool, isunordered)
#undef __CUDA_MATH_ONE
#undef __CUDA_MATH_TWO
template <class A, class B, class C>
__CUDA_MATH typename __cuda_math::if_numbers<A, B, typename __cuda_math::if_numbers<C, C, double>::type>::type
fma(A x, B y, C z) {
    return ::fma((double)x, (double)y, (double)z);
}
template <class T> __CUDA_MATH typename __cuda_math::if_whole<T, double>::type frexp(T x, int *n) {
    return ::frexp((double)x, n);
}
template <class T> __CUDA_MATH typename __cuda_math::if_whole<T, double>::type ldexp(T x, int n) {
    return ::ldexp((double)x, n);
}

#include "in_std.h"
