// Exact functions in single precision (integers, remainders, exponents, neighbours), compared with reference results.

#include "measure.h"

ONE(float, fabsf)
ONE(float, ceilf)
ONE(float, floorf)
ONE(float, truncf)
ONE(float, rintf)
ONE(float, nearbyintf)
ONE(float, roundf)
ONE(float, lrintf)
ONE(float, llrintf)
ONE(float, lroundf)
ONE(float, llroundf)
ONE(float, logbf)
ONE(float, ilogbf)
TWO(float, fmodf)
TWO(float, remainderf)
TWO(float, fdimf)
TWO(float, fmaxf)
TWO(float, fminf)
TWO(float, nextafterf)
TWO(float, copysignf)
SHIFT(float, ldexpf)
SHIFT(float, scalbnf)
SHIFT(float, scalblnf)
THREE(float, fmaf)

__CUDA_MATH float quotient_of(float x, float y) {
    int n;
    remquof(x, y, &n);
    return n;
}
__CUDA_MATH float mantissa_of(float x) {
    int n;
    return frexpf(x, &n);
}
__CUDA_MATH float exponent_of(float x) {
    int n;
    frexpf(x, &n);
    return n;
}
__CUDA_MATH float rest_of(float x) {
    float n;
    return modff(x, &n);
}
__CUDA_MATH float whole_of(float x) {
    float n;
    modff(x, &n);
    return n;
}
KERNEL(float, remquof, 2, quotient_of(x[0], x[1]))
KERNEL(float, frexpf_first, 1, mantissa_of(x[0]))
KERNEL(float, frexpf_second, 1, exponent_of(x[0]))
KERNEL(float, modff_first, 1, rest_of(x[0]))
KERNEL(float, modff_second, 1, whole_of(x[0]))
