// Remainders of divisions.

#pragma once

#include "rounding.h"

namespace __cuda_math {

__CUDA_MATH int steps(float) { return 22; }
__CUDA_MATH int steps(double) { return 50; }

// Returns a modulo b, both positive numbers, and stores the lowest bits of the quotient in
// `count`. Each iteration subtracts b times a power of two, with an exact multiple.
template <class T> __CUDA_MATH T rest_of(T a, T b, int &count) {
    count = 0;
    while (a >= b) {
        int up = exponent_of(a) - exponent_of(b) - steps(a);
        up = up > 0 ? up : 0;
        const T unit = shifted(b, up);
        // The division scales subnormal numbers, which keeps their digits.
        T n = whole(divide(a, unit));
        T rest = madd(-n, unit, a);
        if (rest < T(0)) {
            rest += unit;
            n -= T(1);
        }
        if (up < 3) count += (int)((long long)n << up & 7);
        a = rest;
    }
    return a;
}
template <class T> __CUDA_MATH T toward_zero_rest(T x, T y) {
    if (is_nan(x) || is_nan(y) || is_inf(x) || y == T(0)) return not_a_number(x);
    int count;
    return is_inf(y) ? x : with_sign(rest_of(magnitude(x), magnitude(y), count), x);
}
template <class T> __CUDA_MATH T nearest_rest(T x, T y, int *quotient) {
    *quotient = 0;
    if (is_nan(x) || is_nan(y) || is_inf(x) || y == T(0)) return not_a_number(x);
    if (is_inf(y)) return x;
    const T b = magnitude(y);
    int count;
    T rest = rest_of(magnitude(x), b, count);
    // If more than half of b is left, or exactly half and the count is odd, b is subtracted once more.
    const T other = b - rest;
    if (rest > other || (rest == other && (count & 1) != 0)) {
        rest = -other;
        count++;
    }
    count &= 7;
    *quotient = is_negative(x) != is_negative(y) ? -count : count;
    return is_negative(x) ? -rest : rest;
}

} // namespace __cuda_math

__CUDA_MATH double fmod(double x, double y) { return __cuda_math::toward_zero_rest(x, y); }
__CUDA_MATH double remquo(double x, double y, int *n) { return __cuda_math::nearest_rest(x, y, n); }
__CUDA_MATH double remainder(double x, double y) {
    int n;
    return __cuda_math::nearest_rest(x, y, &n);
}
__CUDA_MATH float fmodf(float x, float y) { return __cuda_math::toward_zero_rest(x, y); }
__CUDA_MATH float remquof(float x, float y, int *n) { return __cuda_math::nearest_rest(x, y, n); }
__CUDA_MATH float remainderf(float x, float y) {
    int n;
    return __cuda_math::nearest_rest(x, y, &n);
}
