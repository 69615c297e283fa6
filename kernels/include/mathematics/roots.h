// Cube roots and lengths of vectors, and their reciprocals.

#pragma once

#include "core.h"

namespace __cuda_math {

// Returns x - t³, the residual of a cube root t of a number x from 1/2 to 4.
__CUDA_MATH double third_power_rest(double x, double t) {
    const double square = mul(t, t), lost = madd(t, t, -square);
    return madd(-t, lost, madd(-square, t, x));
}
__CUDA_MATH float third_power_rest(float x, float t) {
    const float square = mul(t, t), lost = madd(t, t, -square);
    return madd(-t, lost, madd(-square, t, x));
}

// Splits a positive x = m * 8^third, m from 1 to 8.
__CUDA_MATH float without_eights(float x, int &third) {
    third = 0;
    if (x < 0x1p-126f) {
        x *= 0x1p24f;
        third = -8;
    }
    const int exponent = ((as_int(x) >> 23) - 127 + 150) / 3 - 50;
    third += exponent;
    return as_float(as_int(x) - 3 * exponent * 0x00800000);
}
__CUDA_MATH double without_eights(double x, int &third) {
    third = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        third = -18;
    }
    const int exponent = ((int)(as_long(x) >> 52) - 1023 + 1200) / 3 - 400;
    third += exponent;
    return as_double(as_long(x) - ((long long)(3 * exponent) << 52));
}
// Returns a first approximation: 2^(log2(m) / 3).
__CUDA_MATH float third_root(float m) { return __nvvm_ex2_approx_f(__nvvm_lg2_approx_f(m) * 0.333333343f); }
__CUDA_MATH double third_root(double m) { return third_root((float)m); }

template <class T> __CUDA_MATH T cube_root(T x) {
    const T a = magnitude(x);
    if (!(a > T(0) && a < infinity(x))) return x + x;
    int third;
    const T m = without_eights(a, third), t = third_root(m);
    // t³ (1 + off) = m; the cube root of 1 + off is 1 + off/3 - off²/9.
    const T off = divide(third_power_rest(m, t), t * t * t) * T(1.0 / 3);
    const T result = madd(t, madd(-off, off, off), t);
    return with_sign(result * power_of_two(third, x), x);
}
template <class T> __CUDA_MATH T inverse_cube_root(T x) {
    const T a = magnitude(x);
    if (!(a > T(0) && a < infinity(x))) {
        if (is_nan(x)) return x + x;
        return with_sign(a == T(0) ? infinity(x) : T(0), x);
    }
    int third;
    const T m = without_eights(a, third);
    const T t = divide(T(1), third_root(m));
    // m t³ (1 + off) = 1
    const pair<T> square = product(t, t), cube = product(square.hi, t);
    const T cube_lo = madd(square.lo, t, cube.lo);
    const T off = -madd(m, cube_lo, madd(m, cube.hi, T(-1))) * T(1.0 / 3);
    const T result = madd(t, madd(off + off, off, off), t);
    return with_sign(result * power_of_two(-third, x), x);
}

// Returns the power of two that scales the largest number to about 1: no square overflows; underflow is harmless.
__CUDA_MATH int scale_of(double largest) {
    const int power = 1023 - (int)(as_long(largest) >> 52);
    return power < -1022 ? -1022 : power > 1022 ? 1022 : power;
}
__CUDA_MATH int scale_of(float largest) {
    const int power = 127 - (as_int(largest) >> 23);
    return power < -126 ? -126 : power > 126 ? 126 : power;
}

// Adds a square to a sum in double the precision.
template <class T> __CUDA_MATH pair<T> with_square(pair<T> all, T value) {
    const pair<T> square = product(value, value);
    const pair<T> both = sum(all.hi, square.hi);
    return {both.hi, all.lo + (both.lo + square.lo)};
}
template <class T> __CUDA_MATH T length_of(pair<T> squares, int scale) {
    const pair<T> all = sum_of_larger(squares.hi, squares.lo);
    const T length = root(all.hi);
    if (length == T(0)) return length;
    const T rest = madd(-length, length, all.hi) + all.lo;
    return madd(rest, divide(T(0.5), length), length) * power_of_two(-scale, length);
}
template <class T> __CUDA_MATH T inverse_length_of(pair<T> squares, int scale) {
    const pair<T> all = sum_of_larger(squares.hi, squares.lo);
    if (all.hi == T(0)) return infinity(all.hi);
    const T y = divide(T(1), root(all.hi));
    // 1 - (hi + lo) y²
    const pair<T> square = product(y, y);
    const T e = -madd(all.hi, square.lo, madd(all.lo, square.hi, madd(all.hi, square.hi, T(-1))));
    return madd(y * T(0.5), e, y) * power_of_two(scale, y);
}

// Infinities take precedence over NaNs: if any number is infinite, so is the length.
template <class T> __CUDA_MATH bool any_inf(T x) { return is_inf(x); }
template <class T, class... Rest> __CUDA_MATH bool any_inf(T x, Rest... rest) {
    return is_inf(x) || any_inf(rest...);
}
template <class T> __CUDA_MATH T largest_of(T a) { return magnitude(a); }
template <class T, class... Rest> __CUDA_MATH T largest_of(T a, Rest... rest) {
    const T other = largest_of(rest...);
    return magnitude(a) > other ? magnitude(a) : other;
}
template <class T> __CUDA_MATH pair<T> squares_of(pair<T> all, T) { return all; }
template <class T, class... Rest> __CUDA_MATH pair<T> squares_of(pair<T> all, T scale, T value, Rest... rest) {
    return squares_of(with_square(all, value * scale), scale, rest...);
}
template <class T, class... Rest> __CUDA_MATH T length(T a, Rest... rest) {
    if (any_inf(a, rest...)) return infinity(a);
    const int scale = scale_of(largest_of(a, rest...));
    return length_of(squares_of(pair<T>{T(0), T(0)}, power_of_two(scale, a), a, rest...), scale);
}
template <class T, class... Rest> __CUDA_MATH T inverse_length(T a, Rest... rest) {
    if (any_inf(a, rest...)) return T(0);
    const int scale = scale_of(largest_of(a, rest...));
    return inverse_length_of(squares_of(pair<T>{T(0), T(0)}, power_of_two(scale, a), a, rest...), scale);
}

// Returns the length of a vector, or its reciprocal.
template <class T> __CUDA_MATH T length_of_many(int count, const T *values, bool inverse) {
    T largest = T(0);
    bool inf = false;
    for (int i = 0; i < count; i++) {
        inf = inf || is_inf(values[i]);
        largest = magnitude(values[i]) > largest ? magnitude(values[i]) : largest;
    }
    if (inf) return inverse ? T(0) : infinity(largest);
    const int scale = scale_of(largest);
    pair<T> all = {T(0), T(0)};
    for (int i = 0; i < count; i++) all = with_square(all, values[i] * power_of_two(scale, largest));
    return inverse ? inverse_length_of(all, scale) : length_of(all, scale);
}

} // namespace __cuda_math

__CUDA_MATH double cbrt(double x) { return __cuda_math::cube_root(x); }
__CUDA_MATH double rcbrt(double x) { return __cuda_math::inverse_cube_root(x); }
__CUDA_MATH double hypot(double x, double y) { return __cuda_math::length(x, y); }
__CUDA_MATH double rhypot(double x, double y) { return __cuda_math::inverse_length(x, y); }
__CUDA_MATH double norm3d(double a, double b, double c) { return __cuda_math::length(a, b, c); }
__CUDA_MATH double rnorm3d(double a, double b, double c) { return __cuda_math::inverse_length(a, b, c); }
__CUDA_MATH double norm4d(double a, double b, double c, double d) { return __cuda_math::length(a, b, c, d); }
__CUDA_MATH double rnorm4d(double a, double b, double c, double d) {
    return __cuda_math::inverse_length(a, b, c, d);
}
__CUDA_MATH double norm(int count, const double *values) {
    return __cuda_math::length_of_many(count, values, false);
}
__CUDA_MATH double rnorm(int count, const double *values) {
    return __cuda_math::length_of_many(count, values, true);
}

__CUDA_MATH float cbrtf(float x) { return __cuda_math::cube_root(x); }
__CUDA_MATH float rcbrtf(float x) { return __cuda_math::inverse_cube_root(x); }
__CUDA_MATH float hypotf(float x, float y) { return __cuda_math::length(x, y); }
__CUDA_MATH float rhypotf(float x, float y) { return __cuda_math::inverse_length(x, y); }
__CUDA_MATH float norm3df(float a, float b, float c) { return __cuda_math::length(a, b, c); }
__CUDA_MATH float rnorm3df(float a, float b, float c) { return __cuda_math::inverse_length(a, b, c); }
__CUDA_MATH float norm4df(float a, float b, float c, float d) { return __cuda_math::length(a, b, c, d); }
__CUDA_MATH float rnorm4df(float a, float b, float c, float d) {
    return __cuda_math::inverse_length(a, b, c, d);
}
__CUDA_MATH float normf(int count, const float *values) {
    return __cuda_math::length_of_many(count, values, false);
}
__CUDA_MATH float rnormf(int count, const float *values) {
    return __cuda_math::length_of_many(count, values, true);
}
