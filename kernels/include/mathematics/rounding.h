// Rounding to integers, exponents, neighbouring numbers, signs.

#pragma once

#include "core.h"

namespace __cuda_math {

__CUDA_MATH float up(float x) { return __builtin_ceilf(x); }
__CUDA_MATH double up(double x) { return __builtin_ceil(x); }
__CUDA_MATH float down(float x) { return __builtin_floorf(x); }
__CUDA_MATH double down(double x) { return __builtin_floor(x); }

// Returns the nearest integer; ties go away from zero.
template <class T> __CUDA_MATH T away_from_zero(T x) {
    const T a = magnitude(x), n = whole(a);
    return with_sign(a - n >= T(0.5) ? n + T(1) : n, x);
}

// Returns the unbiased exponent, also of subnormal numbers. x must be finite and not 0.
__CUDA_MATH int exponent_of(float x) {
    const int bits = as_int(x) & 0x7fffffff;
    if (bits >= 0x00800000) return (bits >> 23) - 127;
    return 31 - __builtin_clz((word)bits) - 149;
}
__CUDA_MATH int exponent_of(double x) {
    const long long bits = as_long(x) & 0x7fffffffffffffffll;
    if (bits >= 0x0010000000000000ll) return (int)(bits >> 52) - 1023;
    return 63 - __builtin_clzll((word64)bits) - 1074;
}
template <class T> __CUDA_MATH bool is_ordinary(T x) { return x != T(0) && !is_inf(x) && !is_nan(x); }

template <class T> __CUDA_MATH T mantissa(T x, int *exponent) {
    *exponent = 0;
    if (!is_ordinary(x)) return x + x;
    *exponent = exponent_of(x) + 1;
    return shifted(x, -*exponent);
}
template <class T> __CUDA_MATH T exponent_as_number(T x) {
    if (is_ordinary(x)) return T(exponent_of(x));
    return x == T(0) ? -infinity(x) : x * x;
}
template <class T> __CUDA_MATH int exponent_as_int(T x) {
    if (is_ordinary(x)) return exponent_of(x);
    return is_inf(x) ? 0x7fffffff : (int)0x80000000;
}
template <class T> __CUDA_MATH T whole_and_rest(T x, T *n) {
    *n = whole(x);
    return with_sign(is_inf(x) ? T(0) : x - *n, x);
}

__CUDA_MATH float neighbour(float x, float y) {
    if (is_nan(x) || is_nan(y)) return x + y;
    if (x == y) return y;
    if (x == 0.0f) return with_sign(as_float(1), y);
    return as_float(as_int(x) + ((x < y) == (x > 0.0f) ? 1 : -1));
}
__CUDA_MATH double neighbour(double x, double y) {
    if (is_nan(x) || is_nan(y)) return x + y;
    if (x == y) return y;
    if (x == 0.0) return with_sign(as_double(1), y);
    return as_double(as_long(x) + ((x < y) == (x > 0.0) ? 1 : -1));
}
// Returns the next float toward a number that may lie between two floats.
__CUDA_MATH float neighbour_toward(float x, double y) {
    if (is_nan(x) || is_nan(y)) return x + (float)y;
    if ((double)x == y) return (float)y;
    if (x == 0.0f) return with_sign(as_float(1), y < 0.0 ? -1.0f : 1.0f);
    return as_float(as_int(x) + (((double)x < y) == (x > 0.0f) ? 1 : -1));
}
__CUDA_MATH int within_int(long n) {
    return n > 100000 ? 100000 : n < -100000 ? -100000 : (int)n;
}

} // namespace __cuda_math

__CUDA_MATH double fabs(double x) { return __cuda_math::magnitude(x); }
__CUDA_MATH double ceil(double x) { return __cuda_math::up(x); }
__CUDA_MATH double floor(double x) { return __cuda_math::down(x); }
__CUDA_MATH double trunc(double x) { return __cuda_math::whole(x); }
__CUDA_MATH double rint(double x) { return __cuda_math::nearest(x); }
__CUDA_MATH double nearbyint(double x) { return __cuda_math::nearest(x); }
__CUDA_MATH double round(double x) { return __cuda_math::away_from_zero(x); }
__CUDA_MATH long lrint(double x) { return (long)__nvvm_d2ll_rn(x); }
__CUDA_MATH long long llrint(double x) { return __nvvm_d2ll_rn(x); }
__CUDA_MATH long lround(double x) { return (long)__nvvm_d2ll_rz(__cuda_math::away_from_zero(x)); }
__CUDA_MATH long long llround(double x) { return __nvvm_d2ll_rz(__cuda_math::away_from_zero(x)); }
__CUDA_MATH double copysign(double x, double y) { return __cuda_math::with_sign(x, y); }
__CUDA_MATH double fdim(double x, double y) { return x > y ? x - y : x <= y ? 0.0 : x + y; }
__CUDA_MATH double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
__CUDA_MATH double fmax(double x, double y) { return __nvvm_fmax_d(x, y); }
__CUDA_MATH double fmin(double x, double y) { return __nvvm_fmin_d(x, y); }
__CUDA_MATH double frexp(double x, int *n) { return __cuda_math::mantissa(x, n); }
__CUDA_MATH double ldexp(double x, int n) { return __cuda_math::shifted(x, n); }
__CUDA_MATH double scalbn(double x, int n) { return __cuda_math::shifted(x, n); }
__CUDA_MATH double scalbln(double x, long n) { return __cuda_math::shifted(x, __cuda_math::within_int(n)); }
__CUDA_MATH double logb(double x) { return __cuda_math::exponent_as_number(x); }
__CUDA_MATH int ilogb(double x) { return __cuda_math::exponent_as_int(x); }
__CUDA_MATH double modf(double x, double *n) { return __cuda_math::whole_and_rest(x, n); }
__CUDA_MATH double nextafter(double x, double y) { return __cuda_math::neighbour(x, y); }
// On the device, long double is double.
__CUDA_MATH double nexttoward(double x, long double y) { return __cuda_math::neighbour(x, (double)y); }
__CUDA_MATH double nan(const char *) { return __cuda_math::not_a_number(0.0); }
__CUDA_MATH double fdivide(double x, double y) { return x / y; }

__CUDA_MATH float fabsf(float x) { return __cuda_math::magnitude(x); }
__CUDA_MATH float ceilf(float x) { return __cuda_math::up(x); }
__CUDA_MATH float floorf(float x) { return __cuda_math::down(x); }
__CUDA_MATH float truncf(float x) { return __cuda_math::whole(x); }
__CUDA_MATH float rintf(float x) { return __cuda_math::nearest(x); }
__CUDA_MATH float nearbyintf(float x) { return __cuda_math::nearest(x); }
__CUDA_MATH float roundf(float x) { return __cuda_math::away_from_zero(x); }
__CUDA_MATH long lrintf(float x) { return (long)__nvvm_f2ll_rn(x); }
__CUDA_MATH long long llrintf(float x) { return __nvvm_f2ll_rn(x); }
__CUDA_MATH long lroundf(float x) { return (long)__nvvm_f2ll_rz(__cuda_math::away_from_zero(x)); }
__CUDA_MATH long long llroundf(float x) { return __nvvm_f2ll_rz(__cuda_math::away_from_zero(x)); }
__CUDA_MATH float copysignf(float x, float y) { return __cuda_math::with_sign(x, y); }
__CUDA_MATH float fdimf(float x, float y) { return x > y ? x - y : x <= y ? 0.0f : x + y; }
__CUDA_MATH float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__CUDA_MATH float fmaxf(float x, float y) { return __nvvm_fmax_f(x, y); }
__CUDA_MATH float fminf(float x, float y) { return __nvvm_fmin_f(x, y); }
__CUDA_MATH float frexpf(float x, int *n) { return __cuda_math::mantissa(x, n); }
__CUDA_MATH float ldexpf(float x, int n) { return __cuda_math::shifted(x, n); }
__CUDA_MATH float scalbnf(float x, int n) { return __cuda_math::shifted(x, n); }
__CUDA_MATH float scalblnf(float x, long n) { return __cuda_math::shifted(x, __cuda_math::within_int(n)); }
__CUDA_MATH float logbf(float x) { return __cuda_math::exponent_as_number(x); }
__CUDA_MATH int ilogbf(float x) { return __cuda_math::exponent_as_int(x); }
__CUDA_MATH float modff(float x, float *n) { return __cuda_math::whole_and_rest(x, n); }
__CUDA_MATH float nextafterf(float x, float y) { return __cuda_math::neighbour(x, y); }
__CUDA_MATH float nexttowardf(float x, long double y) {
    return __cuda_math::neighbour_toward(x, (double)y);
}
__CUDA_MATH float nanf(const char *) { return __cuda_math::not_a_number(0.0f); }
__CUDA_MATH float fdividef(float x, float y) {
#if __CUDA_MATH_FAST
    return __nvvm_div_approx_f(x, y);
#else
    return x / y;
#endif
}
