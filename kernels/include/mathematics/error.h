// The error function, related functions and their inverses; the normal distribution.

#pragma once

#include "core.h"
#include "exp.h"
#include "log.h"
#include "polynomials/error.h"

namespace __cuda_math {

__CUDA_MATH double erf_first(double z) { return erf_start(z); }
__CUDA_MATH float erf_first(float z) { return erf_startf(z); }
__CUDA_MATH double erfinv_first(double z) { return erfinv_start(z); }
__CUDA_MATH float erfinv_first(float z) { return erfinv_startf(z); }
__CUDA_MATH double erfcx_of(double t) { return erfcx_all(t); }
__CUDA_MATH float erfcx_of(float t) { return erfcx_allf(t); }
__CUDA_MATH double natural_log(double x) { return log(x); }
__CUDA_MATH float natural_log(float x) {
    int power;
    const float f = fraction(x, power), n = (float)power;
    return madd(n, 0.693147182f, log_beyond(f) + f);
}

// Returns exp(x²) erfc(x) for x from 0.75 on.
template <class T> __CUDA_MATH T erfcx_positive(T x) {
    // For large x the result equals 1 / (x sqrt(π)).
    if (x > T(0x1p30)) return divide(T(0.56418958354775628), x);
    const T below = x + T(4), t = divide(x - T(4), below);
    // Recovers the rounding errors of the division and the sum: x - 4 - t (x + 4)
    const T lost = madd(-t, T(4) - (below - x), madd(-t, below, x - T(4)));
    const T exact = t + divide(lost, below);
    const T twice = madd(T(2), x, T(1)), value = divide(erfcx_of(exact), twice);
    // Corrects for the rounding error of 1 + 2x.
    const T more = madd(T(2), x, T(1) - twice);
    return madd(-value, divide(more, twice), value);
}

// Returns exp(-(x + lost)²) with its power of two, for a small `lost`.
template <class T> __CUDA_MATH powered<T> bell(T x, T lost) {
    const pair<T> square = product(x, x);
    return exp_powered(-square.hi, -madd(x + x, lost, square.lo));
}

// Returns erfc(x + lost) * factor, for x from 0 on.
template <class T> __CUDA_MATH T erfc_positive(T x, T lost, T factor) {
    if (x < T(0.75)) {
        const T z = x * x, slope = T(1.1283791670955126) * madd(z, T(0.5) * z - T(1), T(1));
        return factor - factor * (x + madd(x, erf_first(z), slope * lost));
    }
    const T far = T(sizeof(T) == 8 ? 30 : 12);
    const T y = x > far ? far : x;
    const powered<T> e = bell(y, lost);
    // The derivative of erfcx is 2x erfcx(x) - 2/sqrt(π).
    const T scaled_erfc = erfcx_positive(y);
    const T slope = madd(y + y, scaled_erfc, T(-1.1283791670955126));
    return scaled(factor * e.value * madd(slope, lost, scaled_erfc), e.power);
}

template <class T> __CUDA_MATH T error_function(T x) {
    const T a = magnitude(x);
    if (a < T(1)) return madd(x, erf_first(x * x), x);
    if (is_nan(x)) return x + x;
    return with_sign(T(1) - erfc_positive(a, T(0), T(1)), x);
}
template <class T> __CUDA_MATH T complement(T x) {
    if (is_nan(x)) return x + x;
    const T a = magnitude(x), positive = erfc_positive(a, T(0), T(1));
    return x < T(0) ? T(2) - positive : positive;
}
template <class T> __CUDA_MATH T scaled_complement(T x) {
    if (is_nan(x)) return x + x;
    if (x >= T(0.75)) return erfcx_positive(x);
    const T limit = T(sizeof(T) == 8 ? -30 : -12), y = x < limit ? limit : x;
    const pair<T> square = product(y, y);
    const powered<T> e = exp_powered(square.hi, square.lo);
    if (x > T(-0.75)) return scaled(e.value, e.power) * (T(1) - madd(x, erf_first(square.hi), x));
    // exp(x²) erfc(x) = 2 exp(x²) - exp(x²) erfc(-x)
    return scaled(e.value, e.power + 1) - erfcx_positive(magnitude(x));
}
template <class T> __CUDA_MATH T normal(T x) {
    if (is_nan(x)) return x + x;
    const T hi = T(0.70710678118654757), lo = sizeof(T) == 8 ? T(-4.833646656726457e-17) : T(1.21016175e-08);
    const T limit = T(sizeof(T) == 8 ? 42 : 16), a = magnitude(x) > limit ? limit : magnitude(x);
    const pair<T> y = product(a, hi);
    const T half = erfc_positive(y.hi, madd(a, lo, y.lo), T(0.5));
    return x < T(0) ? half : T(1) - half;
}

// Returns erfinv(x) / x, where w = -log(1 - x²).
__CUDA_MATH double erfinv_factor(double w) {
    if (w < 2.5) return erfinv_inner(w);
    if (w < 6.25) return erfinv_middle(w);
    const double s = root(w);
    return s < 4.0 ? erfinv_outer(s) : erfinv_far(divide(1.0, s)) * s;
}
__CUDA_MATH float erfinv_factor(float w) {
    if (w < 2.5f) return erfinv_innerf(w);
    if (w < 6.25f) return erfinv_middlef(w);
    const float s = root(w);
    return s < 4.0f ? erfinv_outerf(s) : erfinv_farf(divide(1.0f, s)) * s;
}

template <class T> __CUDA_MATH T inverse_error_function(T x) {
    const T a = magnitude(x);
    if (!(a <= T(1))) return not_a_number(x);
    if (a == T(1)) return with_sign(infinity(x), x);
    if (a < T(0.63)) return x * erfinv_first(x * x);
    return x * erfinv_factor(-natural_log(madd(-x, x, T(1))));
}
template <class T> __CUDA_MATH T inverse_complement(T y) {
    if (!(y >= T(0) && y <= T(2))) return not_a_number(y);
    if (y == T(0)) return infinity(y);
    if (y == T(2)) return -infinity(y);
    const T x = T(1) - y;
    if (magnitude(x) < T(0.63)) return x * erfinv_first(x * x);
    return x * erfinv_factor(-natural_log(y * (T(2) - y)));
}

} // namespace __cuda_math

__CUDA_MATH double erf(double x) { return __cuda_math::error_function(x); }
__CUDA_MATH double erfc(double x) { return __cuda_math::complement(x); }
__CUDA_MATH double erfcx(double x) { return __cuda_math::scaled_complement(x); }
__CUDA_MATH double erfinv(double x) { return __cuda_math::inverse_error_function(x); }
__CUDA_MATH double erfcinv(double x) { return __cuda_math::inverse_complement(x); }
__CUDA_MATH double normcdf(double x) { return __cuda_math::normal(x); }
__CUDA_MATH double normcdfinv(double x) {
    // In the middle, 0 - ... is 0 and not -0.
    return __cuda_math::madd(-1.4142135623730951, __cuda_math::inverse_complement(x + x), 0.0);
}
__CUDA_MATH float erff(float x) { return __cuda_math::error_function(x); }
__CUDA_MATH float erfcf(float x) { return __cuda_math::complement(x); }
__CUDA_MATH float erfcxf(float x) { return __cuda_math::scaled_complement(x); }
__CUDA_MATH float erfinvf(float x) { return __cuda_math::inverse_error_function(x); }
__CUDA_MATH float erfcinvf(float x) { return __cuda_math::inverse_complement(x); }
__CUDA_MATH float normcdff(float x) { return __cuda_math::normal(x); }
__CUDA_MATH float normcdfinvf(float x) {
    return __cuda_math::madd(-1.41421354f, __cuda_math::inverse_complement(x + x), 0.0f);
}
