// log, log2, log10, log1p; asinh, acosh, atanh.

#pragma once

#include "core.h"
#include "polynomials/log.h"

namespace __cuda_math {

// Splits a positive x = 2^power * (1 + f), f from -1/3 to 1/3.
__CUDA_MATH float fraction(float x, int &power) {
    power = 0;
    if (x < 0x1p-126f) {
        x *= 0x1p24f;
        power = -24;
    }
    const int bits = as_int(x), exponent = (bits - 0x3f2aaaab) & (int)0xff800000;
    power += exponent >> 23;
    return as_float(bits - exponent) - 1.0f;
}

// Splits a positive x = 2^power * (1 + f), 1 + f from sqrt(1/2) to sqrt(2).
__CUDA_MATH double fraction(double x, int &power) {
    power = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        power = -54;
    }
    const long long bits = as_long(x);
    const long long exponent = (bits - 0x3fe6a09e667f3bcdll) & (long long)0xfff0000000000000ull;
    power += (int)(exponent >> 52);
    return as_double(bits - exponent) - 1.0;
}

// Returns log(1 + f) - f.
__CUDA_MATH float log_beyond(float f) { return f * f * log1p_tailf(f); }

// Returns f - log(1 + f).
__CUDA_MATH double log_less(double f) {
    const double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    return half - s * (half + z * log_tail(z));
}

// Returns `result` for positive finite x, otherwise the logarithm of 0, infinities, negative numbers or NaN.
template <class T> __CUDA_MATH T log_or_special(T x, T result) {
    if (x > T(0) && x < infinity(x)) return result;
    if (x == T(0)) return -infinity(x);
    return x < T(0) ? not_a_number(x) : x + x;
}

// Returns log(1 + f) * (hi + lo) + power, for bases other than e.
__CUDA_MATH float in_base(float f, float hi, float lo, float power, float more) {
    const float beyond = log_beyond(f);
    const pair<float> first = product(f, hi);
    const float low = madd(f, lo, first.lo) + madd(beyond, hi, more);
    const pair<float> all = sum_of_larger(power, first.hi);
    return all.hi + (all.lo + low);
}
__CUDA_MATH double in_base(double f, double hi, double lo, double power, double more) {
    // f - f*f/2 computed exactly: the following terms are smaller.
    const pair<double> half = product(0.5 * f, f);
    const pair<double> start = sum_of_larger(f, -half.hi);
    const double s = f / (2.0 + f), z = s * s;
    const double rest = s * (half.hi + z * log_tail(z)) + (start.lo - half.lo);
    const pair<double> first = product(start.hi, hi);
    const double low = madd(start.hi, lo, first.lo) + madd(rest, hi, more);
    const pair<double> all = sum_of_larger(power, first.hi);
    return all.hi + (all.lo + low);
}

__CUDA_MATH float log_of_one_and(float x) {
    // If x is so large that adding 1 has no effect, x is scaled down and nothing is added to it.
    const bool large = x > 0x1p64f;
    const float one = large ? 0.0f : 1.0f, y = large ? x * 0x1p-64f : x;
    const int exponent = (as_int(y + one) - 0x3f2aaaab) & (int)0xff800000;
    const float scale = as_float(0x3f800000 - exponent);
    const pair<float> rest = sum(madd(one, scale, -1.0f), y * scale);
    const float f = rest.hi, lost = madd(f, f, 1.0f - f) * rest.lo;
    const float power = (float)((exponent >> 23) + (large ? 64 : 0));
    // log(2) is split: its upper part has so few bits that the product with an exponent is exact.
    const pair<float> all = sum_of_larger(mul(power, 0.693145752f), f);
    return all.hi + (all.lo + madd(power, 1.42860677e-06f, log_beyond(f) + lost));
}
// Returns log(1 + x + more) for a small `more`.
__CUDA_MATH double log_of_one_and(double x, double more) {
    const bool large = x > 0x1p500;
    const double one = large ? 0.0 : 1.0, y = large ? x * 0x1p-500 : x;
    const pair<double> all = sum(one, y);
    const long long exponent =
        (as_long(all.hi) - 0x3fe6a09e667f3bcdll) & (long long)0xfff0000000000000ull;
    const double scale = as_double(0x3ff0000000000000ll - exponent);
    const double f = exponent == 0 && !large ? x : madd(all.hi, scale, -1.0);
    const double lost = exponent == 0 && !large ? more : (all.lo + more) * scale;
    const double power = (double)((int)(exponent >> 52) + (large ? 500 : 0));
    // The derivative of log(1 + f) is 1 / (1 + f).
    const double low = madd(power, 1.9082149292705877e-10, lost - lost * (f - f * f));
    return madd(power, 0.693147180369123816490, f - (log_less(f) - low));
}

} // namespace __cuda_math

__CUDA_MATH double log(double x) {
    int power;
    const double f = __cuda_math::fraction(x, power), n = power;
    const double low = n * 1.9082149292705877e-10 - __cuda_math::log_less(f);
    return __cuda_math::log_or_special(x, __cuda_math::madd(n, 0.693147180369123816490, f + low));
}
__CUDA_MATH double log2(double x) {
    int power;
    const double f = __cuda_math::fraction(x, power);
    return __cuda_math::log_or_special(
        x, __cuda_math::in_base(f, 1.4426950408889634, 2.0355273740931033e-17, power, 0.0));
}
__CUDA_MATH double log10(double x) {
    int power;
    const double f = __cuda_math::fraction(x, power), n = power;
    const auto decades = __cuda_math::product(n, 0.3010299956639812);
    const double more = __cuda_math::madd(n, -2.8037281277851704e-18, decades.lo);
    return __cuda_math::log_or_special(
        x, __cuda_math::in_base(f, 0.4342944819032518, 1.098319650216765e-17, decades.hi, more));
}
__CUDA_MATH double log1p(double x) {
    if (__cuda_math::magnitude(x) < 1e-300) return x;
    const double result = __cuda_math::log_of_one_and(x, 0.0);
    if (x > -1.0 && x < __cuda_math::infinity(x)) return result;
    if (x == -1.0) return -__cuda_math::infinity(x);
    return x < -1.0 ? __cuda_math::not_a_number(x) : x + x;
}

__CUDA_MATH float logf(float x) {
#if __CUDA_MATH_FAST
    return __nvvm_lg2_approx_f(x) * 0.693147182f;
#else
    int power;
    const float f = __cuda_math::fraction(x, power), n = (float)power;
    return __cuda_math::log_or_special(x, __cuda_math::madd(n, 0.693147182f, __cuda_math::log_beyond(f) + f));
#endif
}
__CUDA_MATH float log2f(float x) {
#if __CUDA_MATH_FAST
    return __nvvm_lg2_approx_f(x);
#else
    int power;
    const float f = __cuda_math::fraction(x, power);
    return __cuda_math::log_or_special(
        x, __cuda_math::in_base(f, 1.44269502f, 1.92596303e-08f, (float)power, 0.0f));
#endif
}
__CUDA_MATH float log10f(float x) {
#if __CUDA_MATH_FAST
    return __nvvm_lg2_approx_f(x) * 0.30103001f;
#else
    int power;
    const float f = __cuda_math::fraction(x, power), n = (float)power;
    const auto decades = __cuda_math::product(n, 0.30103001f);
    const float more = __cuda_math::madd(n, -1.43209888e-08f, decades.lo);
    return __cuda_math::log_or_special(
        x, __cuda_math::in_base(f, 0.434294492f, -1.010305e-08f, decades.hi, more));
#endif
}
__CUDA_MATH float log1pf(float x) {
    if (__cuda_math::magnitude(x) < 1e-30f) return x;
    const float result = __cuda_math::log_of_one_and(x);
    if (x > -1.0f && x < __cuda_math::infinity(x)) return result;
    if (x == -1.0f) return -__cuda_math::infinity(x);
    return x < -1.0f ? __cuda_math::not_a_number(x) : x + x;
}

__CUDA_MATH double asinh(double x) {
    const double a = __cuda_math::magnitude(x);
    // For large arguments the result is log(2x).
    if (!(a < 0x1p30)) return __cuda_math::with_sign(log(a) + 0.6931471805599453, x);
    const double z = a * a;
    return __cuda_math::with_sign(log1p(a + z / (1.0 + __cuda_math::root(1.0 + z))), x);
}
__CUDA_MATH double acosh(double x) {
    if (x < 1.0) return __cuda_math::not_a_number(x);
    if (!(x < 0x1p30)) return log(x) + 0.6931471805599453;
    const double t = x - 1.0;
    return log1p(t + __cuda_math::root(__cuda_math::madd(t, t, t + t)));
}
__CUDA_MATH double atanh(double x) {
    const double a = __cuda_math::magnitude(x);
    return __cuda_math::with_sign(0.5 * log1p((a + a) / (1.0 - a)), x);
}
__CUDA_MATH float asinhf(float x) {
    const float a = __cuda_math::magnitude(x);
    if (!(a < 0x1p15f)) {
        int power;
        const float f = __cuda_math::fraction(a, power), n = (float)(power + 1);
        const float far = __cuda_math::madd(n, 0.693147182f, __cuda_math::log_beyond(f) + f);
        return __cuda_math::with_sign(a < __cuda_math::infinity(x) ? far : a, x);
    }
    const float z = a * a;
    const float sum = 1.0f + __cuda_math::root(1.0f + z);
    return __cuda_math::with_sign(log1pf(a + __cuda_math::divide(z, sum)), x);
}
__CUDA_MATH float acoshf(float x) {
    if (x < 1.0f) return __cuda_math::not_a_number(x);
    if (!(x < 0x1p15f)) {
        int power;
        const float f = __cuda_math::fraction(x, power), n = (float)(power + 1);
        const float far = __cuda_math::madd(n, 0.693147182f, __cuda_math::log_beyond(f) + f);
        return x < __cuda_math::infinity(x) ? far : x;
    }
    const float t = x - 1.0f;
    return log1pf(t + __cuda_math::root(__cuda_math::madd(t, t, t + t)));
}
__CUDA_MATH float atanhf(float x) {
    const float a = __cuda_math::magnitude(x);
    return __cuda_math::with_sign(0.5f * log1pf(__cuda_math::divide(a + a, 1.0f - a)), x);
}
