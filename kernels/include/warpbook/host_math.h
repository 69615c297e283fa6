// Functions that a CUDA program's host code has in addition to the C library: `min` and
// `max` without `std::`, and some functions of the device's mathematics.

#pragma once

#if defined(__CUDA__)

#include <math.h>

#define WARPBOOK_HOST_FN static inline __attribute__((host, unused))

#define WARPBOOK_HOST_MIN_MAX(T, A, B)                                              \
    WARPBOOK_HOST_FN T min(A a, B b) { return (T)b < (T)a ? (T)b : (T)a; }          \
    WARPBOOK_HOST_FN T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; }
#define WARPBOOK_HOST_MIN_MAXES(S, U)   \
    WARPBOOK_HOST_MIN_MAX(S, S, S)      \
    WARPBOOK_HOST_MIN_MAX(U, U, U)      \
    WARPBOOK_HOST_MIN_MAX(U, S, U)      \
    WARPBOOK_HOST_MIN_MAX(U, U, S)
WARPBOOK_HOST_MIN_MAXES(int, unsigned int)
WARPBOOK_HOST_MIN_MAXES(long, unsigned long)
WARPBOOK_HOST_MIN_MAXES(long long, unsigned long long)
#undef WARPBOOK_HOST_MIN_MAXES
#undef WARPBOOK_HOST_MIN_MAX
WARPBOOK_HOST_FN float min(float a, float b) { return ::fminf(a, b); }
WARPBOOK_HOST_FN float max(float a, float b) { return ::fmaxf(a, b); }
WARPBOOK_HOST_FN double min(double a, double b) { return ::fmin(a, b); }
WARPBOOK_HOST_FN double max(double a, double b) { return ::fmax(a, b); }
WARPBOOK_HOST_FN double min(float a, double b) { return ::fmin(a, b); }
WARPBOOK_HOST_FN double max(float a, double b) { return ::fmax(a, b); }
WARPBOOK_HOST_FN double min(double a, float b) { return ::fmin(a, b); }
WARPBOOK_HOST_FN double max(double a, float b) { return ::fmax(a, b); }

// Defines a function for double and float.
#define WARPBOOK_HOST_MATH(name, value)                                                     \
    WARPBOOK_HOST_FN double name(double x) { return value; }                                \
    WARPBOOK_HOST_FN float name##f(float from) {                                            \
        const double x = from;                                                              \
        return (float)(value);                                                              \
    }                                                                                       \
    WARPBOOK_HOST_FN float name(float x) { return name##f(x); }
WARPBOOK_HOST_MATH(rsqrt, 1.0 / ::sqrt(x))
WARPBOOK_HOST_MATH(rcbrt, 1.0 / ::cbrt(x))
WARPBOOK_HOST_MATH(normcdf, 0.5 * ::erfc(-x * 0.70710678118654752))

// Computes sin or cos of πx: x is first reduced to within a quarter turn, which is exact.
WARPBOOK_HOST_FN double warpbook_half_turns(double x, bool cosine) {
    const double pi = 3.14159265358979324;
    const double whole = ::rint(x * 2.0), part = x - whole * 0.5;
    const int quarter = (int)::fmod(whole, 4.0) + 4 + cosine;
    const double size = quarter & 1 ? ::cos(part * pi) : ::sin(part * pi);
    return quarter & 2 ? -size : size;
}
WARPBOOK_HOST_MATH(sinpi, warpbook_half_turns(x, false))
WARPBOOK_HOST_MATH(cospi, warpbook_half_turns(x, true))
WARPBOOK_HOST_FN void sincospi(double x, double *sine, double *cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}
WARPBOOK_HOST_FN void sincospif(float x, float *sine, float *cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}
#undef WARPBOOK_HOST_MATH
#undef WARPBOOK_HOST_FN

#endif
