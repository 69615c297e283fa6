// sin, cos, tan of angles, and of multiples of π.

#pragma once

#include "core.h"
#include "polynomials/trigonometric.h"
#include "reduce.h"

namespace __cuda_math {

__CUDA_MATH double sine_tail(double z) { return sin_tail(z); }
__CUDA_MATH float sine_tail(float z) { return sin_tailf(z); }
__CUDA_MATH double cosine_tail(double z) { return cos_tail(z); }
__CUDA_MATH float cosine_tail(float z) { return cos_tailf(z); }

// Evaluates sin and cos of r + more, |r| <= π/4, where `more` is less than r's last digit.
template <class T> __CUDA_MATH T sine_near_zero(T r, T more) {
    const T z = r * r;
    return r + madd(r * z, sine_tail(z), more);
}
template <class T> __CUDA_MATH T cosine_near_zero(T r, T more) {
    const T z = r * r, half = T(0.5) * z, start = T(1) - half;
    // 1 - half, and its rounding error.
    return start + (((T(1) - start) - half) + madd(z * z, cosine_tail(z), -r * more));
}

// Selects sine or cosine and the sign from the number of quarter turns.
template <class T> __CUDA_MATH T wave(T r, T more, int quarter) {
    const T value = quarter & 1 ? cosine_near_zero(r, more) : sine_near_zero(r, more);
    return quarter & 2 ? -value : value;
}

template <class T> __CUDA_MATH T sine(T x) {
    if (is_inf(x) || is_nan(x)) return not_a_number(x);
    const angle<T> a = reduced(x);
    return x == T(0) ? x : wave(a.r, a.more, a.quarter);
}
template <class T> __CUDA_MATH T cosine(T x) {
    if (is_inf(x) || is_nan(x)) return not_a_number(x);
    const angle<T> a = reduced(x);
    return wave(a.r, a.more, a.quarter + 1);
}
template <class T> __CUDA_MATH void sine_and_cosine(T x, T *s, T *c) {
    if (is_inf(x) || is_nan(x)) {
        *s = *c = not_a_number(x);
        return;
    }
    const angle<T> a = reduced(x);
    const T one = sine_near_zero(a.r, a.more), other = cosine_near_zero(a.r, a.more);
    const T sine = a.quarter & 1 ? other : one, cosine = a.quarter & 1 ? one : other;
    *s = x == T(0) ? x : a.quarter & 2 ? -sine : sine;
    *c = (a.quarter + 1) & 2 ? -cosine : cosine;
}

__CUDA_MATH double tangent_tail(double z) { return tan_tail(z); }
__CUDA_MATH float tangent_tail(float z) { return tan_tailf(z); }

template <class T> __CUDA_MATH T tangent(T x) {
    if (is_inf(x) || is_nan(x)) return not_a_number(x);
    const angle<T> a = reduced(x);
    const T r = a.r, z = r * r;
    // tan(r + more) = tan(r) + (1 + tan²(r)) more
    const T tail = madd(r * z, tangent_tail(z), a.more + a.more * z);
    const T t = add(r, tail);
    if ((a.quarter & 1) == 0) return x == T(0) ? x : t;
    // -1 / (t + lost)
    const T lost = add(sub(r, t), tail), inverse = divide(T(-1), t);
    const T off = madd(inverse, lost, madd(inverse, t, T(1)));
    return madd(inverse, off, inverse);
}

// Splits x = quarter / 2 + r, |r| <= 1/4.
template <class T> __CUDA_MATH T half_turns(T x, int &quarter) {
    // All numbers this large are even.
    if (magnitude(x) > T(sizeof(T) == 8 ? 0x1p60 : 0x1p30)) x = T(0);
    const T n = nearest(x + x);
    // Only the lowest bits of a large n matter.
    quarter = (int)(n - T(4) * whole(n * T(0.25)));
    return madd(n, T(-0.5), x);
}
__CUDA_MATH double sinpi_near_zero(double r) {
    const double z = r * r;
    return madd(r, 3.141592653589793, madd(r * z, sinpi_tail(z), r * 1.2246467991473532e-16));
}
__CUDA_MATH float sinpi_near_zero(float r) {
    const float z = r * r;
    return madd(r, 3.14159274f, madd(r * z, sinpi_tailf(z), r * -8.74227766e-08f));
}
__CUDA_MATH double cospi_near_zero(double r) { return madd(r * r, cospi_tail(r * r), 1.0); }
__CUDA_MATH float cospi_near_zero(float r) { return madd(r * r, cospi_tailf(r * r), 1.0f); }

template <class T> __CUDA_MATH T sine_of_turns(T x) {
    if (is_inf(x) || is_nan(x)) return not_a_number(x);
    int quarter;
    const T r = half_turns(x, quarter);
    const T value = quarter & 1 ? cospi_near_zero(r) : sinpi_near_zero(r);
    // For integers the result is 0 with the sign of x.
    if (whole(x) == x) return with_sign(T(0), x);
    return quarter & 2 ? -value : value;
}
template <class T> __CUDA_MATH T cosine_of_turns(T x) {
    if (is_inf(x) || is_nan(x)) return not_a_number(x);
    int quarter;
    const T r = half_turns(x, quarter);
    const T value = quarter & 1 ? sinpi_near_zero(r) : cospi_near_zero(r);
    // Halfway between integers the result is +0.
    if ((quarter & 1) != 0 && r == T(0)) return T(0);
    return (quarter + 1) & 2 ? -value : value;
}

} // namespace __cuda_math

__CUDA_MATH double sin(double x) { return __cuda_math::sine(x); }
__CUDA_MATH double cos(double x) { return __cuda_math::cosine(x); }
__CUDA_MATH double tan(double x) { return __cuda_math::tangent(x); }
__CUDA_MATH void sincos(double x, double *s, double *c) { __cuda_math::sine_and_cosine(x, s, c); }
__CUDA_MATH double sinpi(double x) { return __cuda_math::sine_of_turns(x); }
__CUDA_MATH double cospi(double x) { return __cuda_math::cosine_of_turns(x); }
__CUDA_MATH void sincospi(double x, double *s, double *c) {
    *s = sinpi(x);
    *c = cospi(x);
}

#if __CUDA_MATH_FAST
__CUDA_MATH float sinf(float x) { return __nvvm_sin_approx_f(x); }
__CUDA_MATH float cosf(float x) { return __nvvm_cos_approx_f(x); }
__CUDA_MATH float tanf(float x) { return __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)); }
__CUDA_MATH void sincosf(float x, float *s, float *c) {
    *s = __nvvm_sin_approx_f(x);
    *c = __nvvm_cos_approx_f(x);
}
#else
__CUDA_MATH float sinf(float x) { return __cuda_math::sine(x); }
__CUDA_MATH float cosf(float x) { return __cuda_math::cosine(x); }
__CUDA_MATH float tanf(float x) { return __cuda_math::tangent(x); }
__CUDA_MATH void sincosf(float x, float *s, float *c) { __cuda_math::sine_and_cosine(x, s, c); }
#endif
__CUDA_MATH float sinpif(float x) { return __cuda_math::sine_of_turns(x); }
__CUDA_MATH float cospif(float x) { return __cuda_math::cosine_of_turns(x); }
__CUDA_MATH void sincospif(float x, float *s, float *c) {
    *s = sinpif(x);
    *c = cospif(x);
}
