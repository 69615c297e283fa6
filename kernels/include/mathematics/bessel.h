// Bessel functions: J, Y and the regular modified I.
//
// Below 8: a polynomial around each zero, so that results near it are accurate to the last
// digits, and one from 0 on. From 8 on: two waves whose amplitudes are polynomials in 1/x².

#pragma once

#include "core.h"
#include "exp.h"
#include "gamma.h"
#include "log.h"
#include "polynomials/bessel_far.h"
#include "polynomials/bessel_j.h"
#include "polynomials/bessel_y.h"
#include "trigonometric.h"

namespace __cuda_math {

// Evaluates (x - z) f(x - z), where f is the polynomial around the zero z, given in two parts.
#define __CUDA_MATH_AROUND(f, type, suffix, hi, lo)                       \
    {                                                                     \
        const type t = (x - hi) - (lo);                                   \
        return t * f##suffix(t);                                          \
    }

#define __CUDA_MATH_BESSEL(type, suffix, z0, z0l, z1, z1l, z2, z2l, y10, y10l, y11, y11l, u0, u0l, u1, \
                           u1l, u2, u2l, v0, v0l, v1, v1l, v2, v2l)       \
    __CUDA_MATH type j_below_8(type x, int_tag<0>) {              \
        if (x < type(1.7)) return j0_start##suffix(x * x);                \
        if (x < type(4)) __CUDA_MATH_AROUND(j0_0, type, suffix, z0, z0l)  \
        if (x < type(7.1)) __CUDA_MATH_AROUND(j0_1, type, suffix, z1, z1l) \
        __CUDA_MATH_AROUND(j0_2, type, suffix, z2, z2l)                   \
    }                                                                     \
    __CUDA_MATH type j_below_8(type x, int_tag<1>) {              \
        if (x < type(2.3)) return x * j1_start##suffix(x * x);            \
        if (x < type(5.4)) __CUDA_MATH_AROUND(j1_0, type, suffix, y10, y10l) \
        __CUDA_MATH_AROUND(j1_1, type, suffix, y11, y11l)                 \
    }                                                                     \
    __CUDA_MATH type y_below_8(type x, int_tag<0>) {              \
        if (x < type(0.6)) {                                              \
            const type part = type(0.63661977236758134) * natural_log(x); \
            return madd(part, j0_start##suffix(x * x), y0_start##suffix(x * x)); \
        }                                                                 \
        if (x < type(1.2)) __CUDA_MATH_AROUND(y0_0, type, suffix, u0, u0l) \
        if (x < type(2.4)) __CUDA_MATH_AROUND(y0_1, type, suffix, u0, u0l) \
        if (x < type(5.5)) __CUDA_MATH_AROUND(y0_2, type, suffix, u1, u1l) \
        __CUDA_MATH_AROUND(y0_3, type, suffix, u2, u2l)                   \
    }                                                                     \
    __CUDA_MATH type y_below_8(type x, int_tag<1>) {              \
        if (x < type(1.2)) {                                              \
            const type part = type(0.63661977236758134) * natural_log(x), z = x * x; \
            const type near = x * madd(part, j1_start##suffix(z), y1_start##suffix(z)); \
            return near - divide(type(0.63661977236758134), x);           \
        }                                                                 \
        if (x < type(2.6)) __CUDA_MATH_AROUND(y1_0, type, suffix, v0, v0l) \
        if (x < type(4)) __CUDA_MATH_AROUND(y1_1, type, suffix, v0, v0l)  \
        if (x < type(7)) __CUDA_MATH_AROUND(y1_2, type, suffix, v1, v1l)  \
        __CUDA_MATH_AROUND(y1_3, type, suffix, v2, v2l)                   \
    }                                                                     \
    __CUDA_MATH void waves(type z, type *p, type *q, int_tag<0>) {        \
        *p = wave0_p##suffix(z);                                          \
        *q = wave0_q##suffix(z);                                          \
    }                                                                     \
    __CUDA_MATH void waves(type z, type *p, type *q, int_tag<1>) {        \
        *p = wave1_p##suffix(z);                                          \
        *q = wave1_q##suffix(z);                                          \
    }                                                                     \
    __CUDA_MATH type i_start(type z, int_tag<0>) { return i0_start##suffix(z); } \
    __CUDA_MATH type i_start(type z, int_tag<1>) { return i1_start##suffix(z); } \
    __CUDA_MATH type i_far(type u, int_tag<0>) { return i0_far##suffix(u); } \
    __CUDA_MATH type i_far(type u, int_tag<1>) { return i1_far##suffix(u); }

template <int order> struct int_tag {};

__CUDA_MATH_BESSEL(double, , 2.404825557695773, -1.176691651530894e-16, 5.520078110286311,
                   8.088597146146722e-17, 8.653727912911013, -2.92812607320779e-16, 3.8317059702075125,
                   -1.5269184090088067e-16, 7.015586669815619, -9.414165653410389e-17, 0.8935769662791675,
                   2.6596231539720385e-17, 3.957678419314858, -1.0764340697562706e-16, 7.086051060301773,
                   -8.835285723085408e-17, 2.197141326031017, -4.8259835876454966e-17, 5.429681040794135,
                   4.162514026670377e-16, 8.596005868331169, 2.8415838340063664e-16)
__CUDA_MATH_BESSEL(float, f, 2.40482545f, 1.08705905e-07f, 5.52007818f, -7.19341458e-08f, 8.65372753f,
                   3.81477918e-07f, 3.83170605f, -7.68505899e-08f, 7.01558685f, -1.83211725e-07f, 0.89357698f,
                   -1.33579787e-08f, 3.95767832f, 1.01291178e-07f, 7.08605099f, 7.30581178e-08f, 2.19714141f,
                   -8.28892723e-08f, 5.42968082f, 2.16514351e-07f, 8.59600544f, 4.28572861e-07f)

// Evaluates for x from 8 on: sqrt(2/(πx)) (p cos χ - q sin χ), for Y with sin and cos swapped; χ = x - π/4 - order π/2.
template <class T, int order> __CUDA_MATH T cylinder_from_8(T x, bool second) {
    T p, q, s, c;
    const T inverse = divide(T(1), x);
    waves(T(64) * inverse * inverse, &p, &q, int_tag<order>());
    q *= inverse;
    sine_and_cosine(x, &s, &c);
    // cos χ and sin χ, times sqrt(2).
    const T cosine = order == 0 ? c + s : s - c, sine = order == 0 ? s - c : -(s + c);
    const T size = root(T(0.31830988618379067) * inverse);
    return size * (second ? madd(p, sine, q * cosine) : madd(p, cosine, -q * sine));
}

template <class T, int order> __CUDA_MATH T first_kind(T x) {
    const T a = magnitude(x);
    if (is_nan(x)) return x + x;
    if (is_inf(x)) return T(0);
    const T value = a < T(8) ? j_below_8(a, int_tag<order>()) : cylinder_from_8<T, order>(a, false);
    return order == 1 && is_negative(x) ? -value : value;
}
template <class T, int order> __CUDA_MATH T second_kind(T x) {
    if (is_nan(x) || x < T(0)) return not_a_number(x);
    if (x == T(0)) return -infinity(x);
    if (is_inf(x)) return T(0);
    return x < T(8) ? y_below_8(x, int_tag<order>()) : cylinder_from_8<T, order>(x, true);
}

// Computes J of order n from 2 on: by upward recurrence from J0 and J1 if x is larger than n; otherwise
// downward from an order so high that the start values do not matter, scaled by the resulting J0 or J1.
template <class T> __CUDA_MATH T first_kind_of(int n, T x) {
    const T a = magnitude(x);
    if (is_nan(x)) return x + x;
    if (a == T(0) || is_inf(x)) return T(0);
    const T twice = divide(T(2), a);
    T result;
    if (a > T(n)) {
        T before = first_kind<T, 0>(a);
        result = first_kind<T, 1>(a);
        for (int k = 1; k < n; k++) {
            const T next = madd(T(k) * twice, result, -before);
            before = result;
            result = next;
        }
    } else {
        const T large = T(sizeof(T) == 8 ? 1e100 : 1e10), small = T(1) / large;
        const int extra = (int)root(T(sizeof(T) == 8 ? 200 : 60) * T(n)) + 8;
        T above = T(0), now = small;
        result = T(0);
        for (int k = (n + extra) | 1; k > 0; k--) {
            if (k == n) result = now;
            const T next = madd(T(k) * twice, now, -above);
            above = now;
            now = next;
            if (magnitude(now) > large) {
                now *= small;
                above *= small;
                result *= small;
            }
        }
        // `now` is proportional to J0 and `above` to J1: scale by whichever is farther from 0.
        const T j0 = first_kind<T, 0>(a), j1 = first_kind<T, 1>(a);
        result *= magnitude(j0) > magnitude(j1) ? divide(j0, now) : divide(j1, above);
    }
    return x < T(0) && (n & 1) != 0 ? -result : result;
}
template <class T> __CUDA_MATH T second_kind_of(int n, T x) {
    if (is_nan(x) || x < T(0)) return not_a_number(x);
    if (x == T(0)) return -infinity(x);
    if (is_inf(x)) return T(0);
    const T twice = divide(T(2), x);
    T before = second_kind<T, 0>(x), result = second_kind<T, 1>(x);
    for (int k = 1; k < n && !is_inf(result); k++) {
        const T next = madd(T(k) * twice, result, -before);
        before = result;
        result = next;
    }
    return result;
}

template <class T, int order> __CUDA_MATH T modified(T x) {
    const T a = magnitude(x);
    if (is_nan(x)) return x + x;
    T value;
    if (a < T(8)) {
        value = i_start(a * a, int_tag<order>());
        if (order == 1) value *= a;
    } else {
        const T most = T(sizeof(T) == 8 ? 740 : 100), y = a > most ? most : a;
        const powered<T> e = exp_powered(y, T(0));
        value = scaled(e.value * (i_far(divide(T(8), y), int_tag<order>()) / root(y)), e.power);
    }
    return order == 1 && is_negative(x) ? -value : value;
}

} // namespace __cuda_math

__CUDA_MATH double j0(double x) { return __cuda_math::first_kind<double, 0>(x); }
__CUDA_MATH double j1(double x) { return __cuda_math::first_kind<double, 1>(x); }
__CUDA_MATH double y0(double x) { return __cuda_math::second_kind<double, 0>(x); }
__CUDA_MATH double y1(double x) { return __cuda_math::second_kind<double, 1>(x); }
__CUDA_MATH double jn(int n, double x) {
    if (n < 0) return __cuda_math::not_a_number(x);
    return n == 0 ? j0(x) : n == 1 ? j1(x) : __cuda_math::first_kind_of(n, x);
}
__CUDA_MATH double yn(int n, double x) {
    if (n < 0) return __cuda_math::not_a_number(x);
    return n == 0 ? y0(x) : n == 1 ? y1(x) : __cuda_math::second_kind_of(n, x);
}
__CUDA_MATH double cyl_bessel_i0(double x) { return __cuda_math::modified<double, 0>(x); }
__CUDA_MATH double cyl_bessel_i1(double x) { return __cuda_math::modified<double, 1>(x); }
__CUDA_MATH float j0f(float x) { return __cuda_math::first_kind<float, 0>(x); }
__CUDA_MATH float j1f(float x) { return __cuda_math::first_kind<float, 1>(x); }
__CUDA_MATH float y0f(float x) { return __cuda_math::second_kind<float, 0>(x); }
__CUDA_MATH float y1f(float x) { return __cuda_math::second_kind<float, 1>(x); }
__CUDA_MATH float jnf(int n, float x) {
    if (n < 0) return __cuda_math::not_a_number(x);
    return n == 0 ? j0f(x) : n == 1 ? j1f(x) : __cuda_math::first_kind_of(n, x);
}
__CUDA_MATH float ynf(int n, float x) {
    if (n < 0) return __cuda_math::not_a_number(x);
    return n == 0 ? y0f(x) : n == 1 ? y1f(x) : __cuda_math::second_kind_of(n, x);
}
__CUDA_MATH float cyl_bessel_i0f(float x) { return __cuda_math::modified<float, 0>(x); }
__CUDA_MATH float cyl_bessel_i1f(float x) { return __cuda_math::modified<float, 1>(x); }
