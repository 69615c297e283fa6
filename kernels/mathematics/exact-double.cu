// Exact functions in double precision (integers, remainders, exponents, neighbours), compared with reference results.

#include "measure.h"

ONE(double, fabs)
ONE(double, ceil)
ONE(double, floor)
ONE(double, trunc)
ONE(double, rint)
ONE(double, nearbyint)
ONE(double, round)
ONE(double, lrint)
ONE(double, llrint)
ONE(double, lround)
ONE(double, llround)
ONE(double, logb)
ONE(double, ilogb)
TWO(double, fmod)
TWO(double, remainder)
TWO(double, fdim)
TWO(double, fmax)
TWO(double, fmin)
TWO(double, nextafter)
TWO(double, copysign)
SHIFT(double, ldexp)
SHIFT(double, scalbn)
SHIFT(double, scalbln)
THREE(double, fma)

__CUDA_MATH double quotient_of(double x, double y) {
    int n;
    remquo(x, y, &n);
    return n;
}
__CUDA_MATH double mantissa_of(double x) {
    int n;
    return frexp(x, &n);
}
__CUDA_MATH double exponent_of(double x) {
    int n;
    frexp(x, &n);
    return n;
}
__CUDA_MATH double rest_of(double x) {
    double n;
    return modf(x, &n);
}
__CUDA_MATH double whole_of(double x) {
    double n;
    modf(x, &n);
    return n;
}
KERNEL(double, remquo, 2, quotient_of(x[0], x[1]))
KERNEL(double, frexp_first, 1, mantissa_of(x[0]))
KERNEL(double, frexp_second, 1, exponent_of(x[0]))
KERNEL(double, modf_first, 1, rest_of(x[0]))
KERNEL(double, modf_second, 1, whole_of(x[0]))
