// pow, and powers with integer exponents.

#pragma once

#include "exp.h"
#include "log.h"

namespace __cuda_math {

// Constants of a format: log(2) in two parts, the first with so few bits that its product
// with an exponent is exact, and 2/3.
template <class T> struct pow_constants;
template <> struct pow_constants<double> {
    static constexpr double ln2 = 0.693147180369123816490, ln2_rest = 1.9082149292705877e-10;
    static constexpr double third = 0.6666666666666666, third_rest = 3.700743415417188e-17;
};
template <> struct pow_constants<float> {
    static constexpr float ln2 = 0.693145751953125f, ln2_rest = 1.42860677e-06f;
    static constexpr float third = 0.666666687f, third_rest = -1.98682155e-08f;
};
__CUDA_MATH double fifth(double z) { return pow_tail(z); }
__CUDA_MATH float fifth(float z) { return pow_tailf(z); }

// Returns log(x) of a positive number, with 1.5 times the digits of the format.
template <class T> __CUDA_MATH pair<T> log_pair(T x) {
    typedef pow_constants<T> constants;
    int power;
    const T f = fraction(x, power);
    // s = f / (2 + f)
    const T below = add(f, T(2)), lost = sub(f, sub(below, T(2)));
    const T s = divide(f, below);
    const T s_lo = divide(madd(-s, lost, madd(-s, below, f)), below);
    const pair<T> square = product(s, s);
    const T square_lo = madd(s + s, s_lo, square.lo);
    // log(1 + f) = 2s + 2/3 s³ + s⁵ fifth(s²)
    const pair<T> cube = product(s, square.hi);
    const T cube_lo = madd(s, square_lo, madd(s_lo, square.hi, cube.lo));
    const pair<T> second = product(cube.hi, constants::third);
    const T rest = cube.hi * square.hi * fifth(square.hi);
    const T second_lo =
        madd(cube.hi, constants::third_rest, madd(cube_lo, constants::third, second.lo)) + rest;
    const pair<T> both = sum_of_larger(s + s, second.hi);
    const T both_lo = both.lo + (second_lo + (s_lo + s_lo));
    const pair<T> all = sum_of_larger(power == 0 ? T(0) : mul(T(power), constants::ln2), both.hi);
    return sum_of_larger(all.hi, all.lo + madd(T(power), constants::ln2_rest, both_lo));
}

// Beyond these limits exp overflows or underflows.
__CUDA_MATH double exp_limit(double) { return 760.0; }
__CUDA_MATH float exp_limit(float) { return 120.0f; }

// Returns x^y for a positive finite x and a finite y.
template <class T> __CUDA_MATH T power(T x, T y) {
    const pair<T> l = log_pair(x);
    const T limit = exp_limit(x), all = l.hi * y;
    if (!(magnitude(all) < limit)) return all > T(0) ? infinity(x) : T(0);
    const pair<T> exponent = product(l.hi, y);
    const powered<T> found = exp_powered(exponent.hi, madd(l.lo, y, exponent.lo));
    return scaled(found.value, found.power);
}

// Returns pow(x, y) with C's special cases: 0, infinity, NaN and -1 are handled before anything is computed.
template <class T> __CUDA_MATH T power_of_any(T x, T y) {
    if (y == T(0) || x == T(1)) return T(1);
    if (is_nan(x) || is_nan(y)) return x + y;
    const T a = magnitude(x);
    if (is_inf(y)) {
        if (a == T(1)) return T(1);
        return (a > T(1)) == (y > T(0)) ? infinity(x) : T(0);
    }
    const T half = T(0.5) * y;
    const bool is_whole = whole(y) == y, is_odd = is_whole && whole(half) != half;
    T result;
    if (a == T(0) || is_inf(a)) {
        result = (a == T(0)) == (y > T(0)) ? T(0) : infinity(x);
    } else {
        if (x < T(0) && !is_whole) return not_a_number(x);
        result = power(a, y);
    }
    return is_odd && is_negative(x) ? -result : result;
}

} // namespace __cuda_math

__CUDA_MATH double pow(double x, double y) { return __cuda_math::power_of_any(x, y); }
__CUDA_MATH float powf(float x, float y) {
#if __CUDA_MATH_FAST
    return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x));
#else
    return __cuda_math::power_of_any(x, y);
#endif
}
__CUDA_MATH double powi(double x, int n) { return pow(x, (double)n); }
__CUDA_MATH float powif(float x, int n) { return powf(x, (float)n); }
