// lgamma and tgamma.

#pragma once

#include "core.h"
#include "exp.h"
#include "log.h"
#include "error.h"
#include "polynomials/gamma.h"
#include "pow.h"
#include "trigonometric.h"

namespace __cuda_math {

// The polynomials of both formats under one name.
#define __CUDA_MATH_BOTH(name, polynomial)                                 \
    __CUDA_MATH double name(double x) { return polynomial(x); }           \
    __CUDA_MATH float name(float x) { return polynomial##f(x); }
__CUDA_MATH_BOTH(log_gamma_one, lgamma_one)
__CUDA_MATH_BOTH(log_gamma_two, lgamma_two)
__CUDA_MATH_BOTH(log_gamma_three, lgamma_three)
__CUDA_MATH_BOTH(log_gamma_six, lgamma_six)
__CUDA_MATH_BOTH(log_gamma_far, lgamma_stirling)
__CUDA_MATH_BOTH(gamma_near_two, gamma_two)
__CUDA_MATH_BOTH(gamma_far, gamma_stirling)

// Returns lgamma(x) of a positive x.
template <class T> __CUDA_MATH T log_gamma_positive(T x) {
    if (x < T(0.7)) return madd(x, log_gamma_one(x), -natural_log(x));
    if (x < T(1.7)) return madd(x - T(1), log_gamma_one(x - T(1)), T(0));
    if (x < T(2.75)) return madd(x - T(2), log_gamma_two(x - T(2)), T(0));
    if (x < T(4.5)) return log_gamma_three(x - T(3.625));
    if (x < T(8)) return log_gamma_six(x - T(6.25));
    // Stirling's formula: (x - 1/2)(log(x) - 1) + (log(2π) - 1)/2 + ...
    const T l = natural_log(x) - T(1);
    if (x > T(0x1p60)) return x * l;
    const T inverse = divide(T(1), x);
    const T rest = madd(inverse, log_gamma_far(inverse * inverse), T(0.4189385332046727));
    return madd(x - T(0.5), l, rest);
}

template <class T> __CUDA_MATH T log_gamma(T x) {
    if (is_nan(x)) return x + x;
    const T a = magnitude(x);
    if (is_inf(x) || (x <= T(0) && whole(x) == x)) return infinity(x);
    if (x > T(0)) return log_gamma_positive(x);
    if (a < T(1e-19)) return -natural_log(a);
    // Reflection: gamma(x) gamma(-x) = -π / (x sin(πx))
    const T sine = magnitude(sine_of_turns(x));
    return natural_log(divide(T(3.1415926535897932), a * sine)) - log_gamma_positive(a);
}

// Returns gamma(x) for x from 5.5 on, as value * 2^power.
template <class T> __CUDA_MATH powered<T> gamma_large(T x) {
    // sqrt(2π) exp((x - 1/2) log(x) - x) gamma_far(1/x)
    const pair<T> l = log_pair(x);
    const T power = x - T(0.5);
    const pair<T> first = product(power, l.hi), all = sum_of_larger(first.hi, -x);
    const powered<T> e = exp_powered(all.hi, all.lo + madd(power, l.lo, first.lo));
    return {e.value * (T(2.5066282746310005) * gamma_far(divide(T(1), x))), e.power};
}
// Returns gamma(x) for x from 1/2 to 5.5, reduced to 1.5 to 2.5 by gamma(x) = (x - 1) gamma(x - 1).
template <class T> __CUDA_MATH T gamma_small(T x) {
    T factor = T(1), below = T(1);
    while (x > T(2.5)) {
        x -= T(1);
        factor *= x;
    }
    if (x < T(1.5)) {
        below = x;
        x += T(1);
    }
    return divide(factor * gamma_near_two(x - T(2)), below);
}
template <class T> __CUDA_MATH T gamma_of(T x) {
    if (is_nan(x)) return x + x;
    if (x == T(0)) return with_sign(infinity(x), x);
    if (is_inf(x)) return x > T(0) ? x : not_a_number(x);
    const T most = T(sizeof(T) == 8 ? 172 : 36), least = T(sizeof(T) == 8 ? -190 : -50);
    if (x > most) return infinity(x);
    if (x >= T(0.5)) {
        if (x < T(5.5)) return gamma_small(x);
        const powered<T> found = gamma_large(x);
        return scaled(found.value, found.power);
    }
    const T n = whole(x), half = T(0.5) * n;
    if (n == x) return not_a_number(x);
    const T a = magnitude(x);
    // Near 0 the result is 1/x.
    if (a < T(1e-20)) return divide(T(1), x);
    if (x < least) return whole(half) == half ? -T(0) : T(0);
    if (x > T(-0.5)) {
        // gamma(x) = gamma(x + 2) / (x (x + 1)); the polynomial's argument is x itself.
        return divide(gamma_near_two(x), madd(x, x, x));
    }
    // gamma(x) = -π / (x sin(πx) gamma(-x))
    const T sine = -x * sine_of_turns(x);
    if (a < T(5.5)) return divide(T(3.1415926535897932), sine * gamma_small(a));
    const powered<T> found = gamma_large(a);
    return scaled(divide(T(3.1415926535897932), sine * found.value), -found.power);
}

} // namespace __cuda_math

__CUDA_MATH double lgamma(double x) { return __cuda_math::log_gamma(x); }
__CUDA_MATH float lgammaf(float x) { return __cuda_math::log_gamma(x); }
__CUDA_MATH double tgamma(double x) { return __cuda_math::gamma_of(x); }
__CUDA_MATH float tgammaf(float x) { return __cuda_math::gamma_of(x); }
