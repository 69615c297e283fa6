// C++ overloads: sin(float), sin(int), std::sin, pow(float, int), isnan, abs, min and max of all types.
//
// clang's forward declarations, included before this file, have declared the functions in namespace std
// before any C++ library header: otherwise its constexpr functions would also be taken for device functions.

#pragma once

#include "core.h"
#include "error.h"
#include "exp.h"
#include "gamma.h"
#include "bessel.h"
#include "inverse_trigonometric.h"
#include "light.h"
#include "log.h"
#include "pow.h"
#include "remainders.h"
#include "roots.h"
#include "trigonometric.h"

// Names of the C++ library's inline namespaces, if it has any.
#if defined(__has_include)
#if __has_include(<__config>)
#include <__config>
#elif __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#endif
#endif

// ---- Classification --------------------------------------------------------------

// FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO with the values of the host's library.
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

// ---- Float overloads of the double functions ----------------------------------------

__CUDA_MATH_FLOAT_OF_ONE(acos) __CUDA_MATH_FLOAT_OF_ONE(acosh) __CUDA_MATH_FLOAT_OF_ONE(asin)
__CUDA_MATH_FLOAT_OF_ONE(asinh) __CUDA_MATH_FLOAT_OF_ONE(atan) __CUDA_MATH_FLOAT_OF_ONE(atanh)
__CUDA_MATH_FLOAT_OF_ONE(cbrt) __CUDA_MATH_FLOAT_OF_ONE(cos) __CUDA_MATH_FLOAT_OF_ONE(cosh)
__CUDA_MATH_FLOAT_OF_ONE(cospi) __CUDA_MATH_FLOAT_OF_ONE(erf) __CUDA_MATH_FLOAT_OF_ONE(erfc)
__CUDA_MATH_FLOAT_OF_ONE(erfcinv) __CUDA_MATH_FLOAT_OF_ONE(erfcx) __CUDA_MATH_FLOAT_OF_ONE(erfinv)
__CUDA_MATH_FLOAT_OF_ONE(exp) __CUDA_MATH_FLOAT_OF_ONE(exp10) __CUDA_MATH_FLOAT_OF_ONE(exp2)
__CUDA_MATH_FLOAT_OF_ONE(expm1) __CUDA_MATH_FLOAT_OF_ONE(lgamma) __CUDA_MATH_FLOAT_OF_ONE(log)
__CUDA_MATH_FLOAT_OF_ONE(log10) __CUDA_MATH_FLOAT_OF_ONE(log1p) __CUDA_MATH_FLOAT_OF_ONE(log2)
__CUDA_MATH_FLOAT_OF_ONE(logb) __CUDA_MATH_FLOAT_OF_ONE(normcdf) __CUDA_MATH_FLOAT_OF_ONE(normcdfinv)
__CUDA_MATH_FLOAT_OF_ONE(rcbrt) __CUDA_MATH_FLOAT_OF_ONE(sin) __CUDA_MATH_FLOAT_OF_ONE(sinh)
__CUDA_MATH_FLOAT_OF_ONE(sinpi) __CUDA_MATH_FLOAT_OF_ONE(tan) __CUDA_MATH_FLOAT_OF_ONE(tanh)
__CUDA_MATH_FLOAT_OF_ONE(tgamma) __CUDA_MATH_FLOAT_OF_ONE(j0) __CUDA_MATH_FLOAT_OF_ONE(j1)
__CUDA_MATH_FLOAT_OF_ONE(y0) __CUDA_MATH_FLOAT_OF_ONE(y1) __CUDA_MATH_FLOAT_OF_ONE(cyl_bessel_i0)
__CUDA_MATH_FLOAT_OF_ONE(cyl_bessel_i1) __CUDA_MATH_FLOAT_OF_TWO(atan2) __CUDA_MATH_FLOAT_OF_TWO(fmod)
__CUDA_MATH_FLOAT_OF_TWO(hypot) __CUDA_MATH_FLOAT_OF_TWO(nextafter) __CUDA_MATH_FLOAT_OF_TWO(pow)
__CUDA_MATH_FLOAT_OF_TWO(remainder) __CUDA_MATH_FLOAT_OF_TWO(rhypot) __CUDA_MATH_FLOAT_OF_TWO(fdivide)
__CUDA_MATH float jn(int n, float x) { return jnf(n, x); }
__CUDA_MATH float yn(int n, float x) { return ynf(n, x); }
__CUDA_MATH float frexp(float x, int *n) { return frexpf(x, n); }
__CUDA_MATH float ldexp(float x, int n) { return ldexpf(x, n); }
__CUDA_MATH float scalbn(float x, int n) { return scalbnf(x, n); }
__CUDA_MATH float scalbln(float x, long n) { return scalblnf(x, n); }
__CUDA_MATH float modf(float x, float *n) { return modff(x, n); }
__CUDA_MATH float remquo(float x, float y, int *n) { return remquof(x, y, n); }
__CUDA_MATH float nexttoward(float x, long double y) { return nexttowardf(x, y); }
__CUDA_MATH int ilogb(float x) { return ilogbf(x); }
__CUDA_MATH long lrint(float x) { return lrintf(x); }
__CUDA_MATH long lround(float x) { return lroundf(x); }
__CUDA_MATH long long llrint(float x) { return llrintf(x); }
__CUDA_MATH long long llround(float x) { return llroundf(x); }
__CUDA_MATH void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
__CUDA_MATH void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
__CUDA_MATH float pow(float x, int n) { return powif(x, n); }
__CUDA_MATH double pow(double x, int n) { return powi(x, n); }

// ---- Other arithmetic types are converted to double -----------------------------------------

__CUDA_MATH_NUMBER_OF_ONE(double, acos) __CUDA_MATH_NUMBER_OF_ONE(double, acosh)
__CUDA_MATH_NUMBER_OF_ONE(double, asin) __CUDA_MATH_NUMBER_OF_ONE(double, asinh)
__CUDA_MATH_NUMBER_OF_ONE(double, atan) __CUDA_MATH_NUMBER_OF_ONE(double, atanh)
__CUDA_MATH_NUMBER_OF_ONE(double, cbrt) __CUDA_MATH_NUMBER_OF_ONE(double, cos)
__CUDA_MATH_NUMBER_OF_ONE(double, cosh) __CUDA_MATH_NUMBER_OF_ONE(double, erf)
__CUDA_MATH_NUMBER_OF_ONE(double, erfc) __CUDA_MATH_NUMBER_OF_ONE(double, exp)
__CUDA_MATH_NUMBER_OF_ONE(double, exp2) __CUDA_MATH_NUMBER_OF_ONE(double, exp10)
__CUDA_MATH_NUMBER_OF_ONE(double, expm1) __CUDA_MATH_NUMBER_OF_ONE(double, lgamma)
__CUDA_MATH_NUMBER_OF_ONE(double, log) __CUDA_MATH_NUMBER_OF_ONE(double, log10)
__CUDA_MATH_NUMBER_OF_ONE(double, log1p) __CUDA_MATH_NUMBER_OF_ONE(double, log2)
__CUDA_MATH_NUMBER_OF_ONE(double, logb) __CUDA_MATH_NUMBER_OF_ONE(double, sin)
__CUDA_MATH_NUMBER_OF_ONE(double, sinh) __CUDA_MATH_NUMBER_OF_ONE(double, tan)
__CUDA_MATH_NUMBER_OF_ONE(double, tanh) __CUDA_MATH_NUMBER_OF_ONE(double, tgamma)
__CUDA_MATH_NUMBER_OF_ONE(int, ilogb) __CUDA_MATH_NUMBER_OF_ONE(int, fpclassify)
__CUDA_MATH_NUMBER_OF_ONE(long, lrint) __CUDA_MATH_NUMBER_OF_ONE(long, lround)
__CUDA_MATH_NUMBER_OF_ONE(long long, llrint) __CUDA_MATH_NUMBER_OF_ONE(long long, llround)
__CUDA_MATH_NUMBER_OF_TWO(double, atan2) __CUDA_MATH_NUMBER_OF_TWO(double, fmod)
__CUDA_MATH_NUMBER_OF_TWO(double, hypot) __CUDA_MATH_NUMBER_OF_TWO(double, nextafter)
__CUDA_MATH_NUMBER_OF_TWO(double, pow) __CUDA_MATH_NUMBER_OF_TWO(double, remainder)
__CUDA_MATH_NUMBER_OF_TWO(bool, isgreater) __CUDA_MATH_NUMBER_OF_TWO(bool, isgreaterequal)
__CUDA_MATH_NUMBER_OF_TWO(bool, isless) __CUDA_MATH_NUMBER_OF_TWO(bool, islessequal)
__CUDA_MATH_NUMBER_OF_TWO(bool, islessgreater) __CUDA_MATH_NUMBER_OF_TWO(bool, isunordered)
template <class T> __CUDA_MATH typename __cuda_math::if_whole<T, double>::type frexp(T x, int *n) {
    return ::frexp((double)x, n);
}
template <class T> __CUDA_MATH typename __cuda_math::if_whole<T, double>::type nexttoward(T x, long double y) {
    return ::nexttoward((double)x, y);
}
template <class T> __CUDA_MATH typename __cuda_math::if_whole<T, double>::type ldexp(T x, int n) {
    return ::ldexp((double)x, n);
}

#include "in_std.h"
