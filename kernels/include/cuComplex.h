// Complex numbers in single and double precision, for host and device, C and C++.

#pragma once
#define CU_COMPLEX_H_ // guard that programs test

#include <math.h>

#include "vector_functions.h"

#if defined(__CUDA__)
#define WARPBOOK_COMPLEX_FN static inline __attribute__((host, device, unused))
#else
#define WARPBOOK_COMPLEX_FN static inline
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// Quotients and magnitudes are scaled so that no intermediate result overflows.
#define WARPBOOK_COMPLEX(T, C, f, make, abs, sqrt)                                           \
    WARPBOOK_COMPLEX_FN T cuCreal##f(C z) { return z.x; }                                    \
    WARPBOOK_COMPLEX_FN T cuCimag##f(C z) { return z.y; }                                    \
    WARPBOOK_COMPLEX_FN C cuConj##f(C z) { return make(z.x, -z.y); }                         \
    WARPBOOK_COMPLEX_FN C cuCadd##f(C a, C b) { return make(a.x + b.x, a.y + b.y); }         \
    WARPBOOK_COMPLEX_FN C cuCsub##f(C a, C b) { return make(a.x - b.x, a.y - b.y); }         \
    WARPBOOK_COMPLEX_FN C cuCmul##f(C a, C b) {                                              \
        return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                           \
    }                                                                                        \
    WARPBOOK_COMPLEX_FN C cuCdiv##f(C a, C b) {                                              \
        const T scale = 1 / (abs(b.x) + abs(b.y));                                           \
        const T ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;      \
        const T size = 1 / (bx * bx + by * by);                                              \
        return make((ax * bx + ay * by) * size, (ay * bx - ax * by) * size);                 \
    }                                                                                        \
    WARPBOOK_COMPLEX_FN T cuCabs##f(C z) {                                                   \
        const T a = abs(z.x), b = abs(z.y), more = a > b ? a : b, less = a > b ? b : a;      \
        if (more == 0 || more - more != 0 || less - less != 0)                               \
            return a + b;                                                                    \
        const T part = less / more;                                                          \
        return more * sqrt(1 + part * part);                                                 \
    }
WARPBOOK_COMPLEX(float, cuFloatComplex, f, make_float2, fabsf, sqrtf)
WARPBOOK_COMPLEX(double, cuDoubleComplex, , make_double2, fabs, sqrt)
#undef WARPBOOK_COMPLEX

WARPBOOK_COMPLEX_FN cuComplex cuCfmaf(cuComplex a, cuComplex b, cuComplex c) {
    return make_float2(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);
}
WARPBOOK_COMPLEX_FN cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b,
                                           cuDoubleComplex c) {
    return make_double2(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);
}

WARPBOOK_COMPLEX_FN cuFloatComplex make_cuFloatComplex(float x, float y) {
    return make_float2(x, y);
}
WARPBOOK_COMPLEX_FN cuDoubleComplex make_cuDoubleComplex(double x, double y) {
    return make_double2(x, y);
}
WARPBOOK_COMPLEX_FN cuComplex make_cuComplex(float x, float y) { return make_float2(x, y); }
WARPBOOK_COMPLEX_FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
    return make_double2((double)z.x, (double)z.y);
}
WARPBOOK_COMPLEX_FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
    return make_float2((float)z.x, (float)z.y);
}
