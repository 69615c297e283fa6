// asin, acos, atan, atan2.

#pragma once

#include "core.h"
#include "polynomials/trigonometric.h"

namespace __cuda_math {

template <class T> struct quarter_turn;
template <> struct quarter_turn<double> {
    static constexpr double hi = 1.5707963267948966, lo = 6.123233995736766e-17;
};
template <> struct quarter_turn<float> {
    static constexpr float hi = 1.57079637f, lo = -4.37113883e-08f;
};
__CUDA_MATH double arc_sine_tail(double z) { return asin_tail(z); }
__CUDA_MATH float arc_sine_tail(float z) { return asin_tailf(z); }
__CUDA_MATH double arc_tangent_tail(double z) { return atan_tail(z); }
__CUDA_MATH float arc_tangent_tail(float z) { return atan_tailf(z); }

// Returns acos(a) / 2 = asin(sqrt((1 - a) / 2)) for a from 1/2 to 1.
template <class T> __CUDA_MATH T half_of_acos(T a) {
    const T z = madd(a, T(-0.5), T(0.5)), s = root(z);
    const T lost = s == T(0) ? T(0) : divide(madd(-s, s, z), s + s);
    return s + madd(s * z, arc_sine_tail(z), lost);
}
template <class T> __CUDA_MATH T arc_sine(T x) {
    const T a = magnitude(x), z = x * x;
    if (a <= T(0.5)) return madd(x * z, arc_sine_tail(z), x);
    if (!(a <= T(1))) return not_a_number(x);
    const T half = half_of_acos(a);
    return with_sign(quarter_turn<T>::hi - ((half + half) - quarter_turn<T>::lo), x);
}
template <class T> __CUDA_MATH T arc_cosine(T x) {
    const T a = magnitude(x), z = x * x;
    if (a <= T(0.5)) {
        const T asin = madd(x * z, arc_sine_tail(z), -quarter_turn<T>::lo);
        return quarter_turn<T>::hi - (x + asin);
    }
    if (!(a <= T(1))) return not_a_number(x);
    const T half = half_of_acos(a);
    if (x > T(0)) return half + half;
    return T(2) * (quarter_turn<T>::hi - (half - quarter_turn<T>::lo));
}

// Returns atan(q + more), 0 <= q <= 1.
template <class T> __CUDA_MATH T arc_tangent_start(T q, T more) {
    const T z = q * q;
    return q + madd(q * z, arc_tangent_tail(z), more);
}
template <class T> __CUDA_MATH T arc_tangent(T x) {
    const T a = magnitude(x);
    if (is_nan(x)) return x + x;
    const bool beyond = a > T(1);
    const T q = beyond ? divide(T(1), a) : a;
    const T start = arc_tangent_start(q, T(0));
    return with_sign(beyond ? quarter_turn<T>::hi - (start - quarter_turn<T>::lo) : start, x);
}
template <class T> __CUDA_MATH T arc_tangent_of(T y, T x) {
    if (is_nan(x) || is_nan(y)) return x + y;
    const T a = magnitude(y), b = magnitude(x);
    const bool steep = a > b;
    const T larger = steep ? a : b, smaller = steep ? b : a;
    // 0/0 counts as 0, ∞/∞ as 1.
    const T q = larger == T(0) ? T(0) : smaller == larger ? T(1) : divide(smaller, larger);
    T result = arc_tangent_start(q, T(0));
    if (steep) result = quarter_turn<T>::hi - (result - quarter_turn<T>::lo);
    if (is_negative(x)) result = T(2) * quarter_turn<T>::hi - (result - T(2) * quarter_turn<T>::lo);
    return with_sign(result, y);
}

} // namespace __cuda_math

__CUDA_MATH double asin(double x) { return __cuda_math::arc_sine(x); }
__CUDA_MATH double acos(double x) { return __cuda_math::arc_cosine(x); }
__CUDA_MATH double atan(double x) { return __cuda_math::arc_tangent(x); }
__CUDA_MATH double atan2(double y, double x) { return __cuda_math::arc_tangent_of(y, x); }
__CUDA_MATH float asinf(float x) { return __cuda_math::arc_sine(x); }
__CUDA_MATH float acosf(float x) { return __cuda_math::arc_cosine(x); }
__CUDA_MATH float atanf(float x) { return __cuda_math::arc_tangent(x); }
__CUDA_MATH float atan2f(float y, float x) { return __cuda_math::arc_tangent_of(y, x); }
