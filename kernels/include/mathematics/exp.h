// exp, exp2, exp10, expm1; sinh, cosh, tanh.

#pragma once

#include "core.h"
#include "polynomials/exp.h"

namespace __cuda_math {

// A number as value * 2^power, which neither overflows nor underflows.
template <class T> struct powered {
    T value;
    int power;
};

__CUDA_MATH double bounded(double x, double low, double high) {
    return x > high ? high : x < low ? low : x;
}
__CUDA_MATH float bounded(float x, float low, float high) {
    return x > high ? high : x < low ? low : x;
}

// Splits x = power * log(2) + rest, |rest| <= log(2) / 2, for -4000 < x < 4000.
__CUDA_MATH double without_ln2(double x, int &power) {
    const double n = nearest(x * 1.4426950408889634);
    power = (int)n;
    return madd(n, -2.3190468138462996e-17, madd(n, -0.6931471805599453, x));
}
__CUDA_MATH float without_ln2(float x, int &power) {
    const float n = nearest(x * 1.44269502f);
    power = (int)n;
    return madd(n, 1.90465421e-09f, madd(n, -0.693147182f, x));
}
__CUDA_MATH double tail(double r) { return exp_tail(r); }
__CUDA_MATH float tail(float r) { return exp_tailf(r); }
__CUDA_MATH double wide_tail(double r) { return expm1_tail(r); }
__CUDA_MATH float wide_tail(float r) { return expm1_tailf(r); }

// Returns exp(x + more) for a small `more`.
template <class T> __CUDA_MATH powered<T> exp_powered(T x, T more) {
    int power;
    const T r = without_ln2(x, power) + more;
    return {T(1) + madd(r * r, tail(r), r), power};
}

// Returns exp(x) - 1.
template <class T> __CUDA_MATH T exp_less_one(T x) {
    if (magnitude(x) < T(0.5)) return madd(x * x, wide_tail(x), x);
    int power;
    const T r = without_ln2(x, power);
    const T less = madd(r * r, tail(r), r);
    // 2^power may overflow although the result does not, so half of it is used.
    const T half = power_of_two(power - 1, x);
    const T result = madd(half, less, half - T(0.5));
    return result + result;
}

__CUDA_MATH float exp_fast(float x) { return __nvvm_ex2_approx_f(x * 1.44269502f); }

// Returns b^x, where log2(b) = hi + lo.
__CUDA_MATH float power_of(float x, float hi, float lo) {
    const float n = nearest(x * hi);
    const float f = madd(x, lo, madd(x, hi, -n));
    return scaled(__nvvm_ex2_approx_f(f), (int)n);
}

} // namespace __cuda_math

__CUDA_MATH double exp(double x) {
    const auto found = __cuda_math::exp_powered(__cuda_math::bounded(x, -746.0, 710.0), 0.0);
    return __cuda_math::is_nan(x) ? x + x : __cuda_math::scaled(found.value, found.power);
}
__CUDA_MATH double exp2(double x) {
    const double y = __cuda_math::bounded(x, -1076.0, 1025.0), n = __cuda_math::nearest(y), f = y - n;
    const double r = __cuda_math::madd(f, 0.6931471805599453, f * 2.3190468138462996e-17);
    const double value = 1.0 + __cuda_math::madd(r * r, __cuda_math::exp_tail(r), r);
    return __cuda_math::is_nan(x) ? x + x : __cuda_math::scaled(value, (int)n);
}
__CUDA_MATH double exp10(double x) {
    const double y = __cuda_math::bounded(x, -324.5, 309.0), n = __cuda_math::nearest(y * 3.321928094887362);
    // y - n log10(2), times log(10).
    const double rest = __cuda_math::madd(n, 2.8037281277851704e-18, __cuda_math::madd(n, -0.3010299956639812, y));
    const double r = __cuda_math::madd(rest, 2.302585092994046, rest * -2.1707562233822494e-16);
    const double value = 1.0 + __cuda_math::madd(r * r, __cuda_math::exp_tail(r), r);
    return __cuda_math::is_nan(x) ? x + x : __cuda_math::scaled(value, (int)n);
}
__CUDA_MATH double expm1(double x) {
    if (__cuda_math::magnitude(x) < 1e-300) return x;
    if (x > 709.9) return __cuda_math::infinity(x);
    if (x < -50.0) return -1.0;
    return __cuda_math::exp_less_one(x);
}

__CUDA_MATH float expf(float x) {
#if __CUDA_MATH_FAST
    return __cuda_math::exp_fast(x);
#else
    return __cuda_math::power_of(__cuda_math::bounded(x, -105.0f, 89.5f), 1.44269502f, 1.92596303e-08f);
#endif
}
__CUDA_MATH float exp2f(float x) { return __nvvm_ex2_approx_f(x); }
__CUDA_MATH float exp10f(float x) {
#if __CUDA_MATH_FAST
    return __nvvm_ex2_approx_f(x * 3.32192802f);
#else
    return __cuda_math::power_of(__cuda_math::bounded(x, -46.0f, 39.0f), 3.32192802f, 7.05953696e-08f);
#endif
}
__CUDA_MATH float expm1f(float x) {
    if (__cuda_math::magnitude(x) < 1e-30f) return x;
    if (x > 89.0f) return __cuda_math::infinity(x);
    if (x < -25.0f) return -1.0f;
    return __cuda_math::exp_less_one(x);
}

// Uses a polynomial below 1, and exp(x)/2 - exp(-x)/2 above.
__CUDA_MATH double sinh(double x) {
    const double a = __cuda_math::magnitude(x), z = x * x;
    if (a < 1.0) return __cuda_math::madd(x * z, __cuda_math::sinh_tail(z), x);
    const auto found = __cuda_math::exp_powered(__cuda_math::bounded(a, 0.0, 712.0), 0.0);
    const double e = __cuda_math::scaled(found.value, found.power - 1);
    const double result = a > 40.0 ? e : e - 0.25 / e;
    return __cuda_math::is_nan(x) ? x + x : __cuda_math::with_sign(result, x);
}
__CUDA_MATH double cosh(double x) {
    const auto found = __cuda_math::exp_powered(__cuda_math::bounded(__cuda_math::magnitude(x), 0.0, 712.0), 0.0);
    const double e = __cuda_math::scaled(found.value, found.power - 1);
    const double result = e > 0x1p60 ? e : e + 0.25 / e;
    return __cuda_math::is_nan(x) ? x + x : result;
}
__CUDA_MATH double tanh(double x) {
    const double a = __cuda_math::magnitude(x), z = x * x;
    if (a < 0.6) return __cuda_math::with_sign(__cuda_math::madd(x * z, __cuda_math::tanh_tail(z), x), x);
    const auto found = __cuda_math::exp_powered(__cuda_math::bounded(a + a, 0.0, 80.0), 0.0);
    const double result = 1.0 - 2.0 / (__cuda_math::scaled(found.value, found.power) + 1.0);
    return __cuda_math::is_nan(x) ? x + x : __cuda_math::with_sign(result, x);
}

__CUDA_MATH float sinhf(float x) {
    const float a = __cuda_math::magnitude(x), z = x * x;
    if (a < 1.0f) return __cuda_math::madd(x * z, __cuda_math::sinh_tailf(z), x);
    const auto found = __cuda_math::exp_powered(__cuda_math::bounded(a, 0.0f, 91.0f), 0.0f);
    const float e = __cuda_math::scaled(found.value, found.power - 1);
    const float result = a > 20.0f ? e : e - __cuda_math::divide(0.25f, e);
    return __cuda_math::is_nan(x) ? x + x : __cuda_math::with_sign(result, x);
}
__CUDA_MATH float coshf(float x) {
    const auto found = __cuda_math::exp_powered(__cuda_math::bounded(__cuda_math::magnitude(x), 0.0f, 91.0f), 0.0f);
    const float e = __cuda_math::scaled(found.value, found.power - 1);
    const float result = e > 0x1p40f ? e : e + __cuda_math::divide(0.25f, e);
    return __cuda_math::is_nan(x) ? x + x : result;
}
__CUDA_MATH float tanhf(float x) {
    const float a = __cuda_math::magnitude(x), z = x * x;
    if (a < 0.6f) return __cuda_math::with_sign(__cuda_math::madd(x * z, __cuda_math::tanh_tailf(z), x), x);
    const float e = __nvvm_ex2_approx_f(__cuda_math::bounded(a, 0.0f, 20.0f) * 2.88539004f);
    const float result = __cuda_math::madd(-2.0f, __nvvm_rcp_rn_f(e + 1.0f), 1.0f);
    return __cuda_math::is_nan(x) ? x + x : __cuda_math::with_sign(result, x);
}
