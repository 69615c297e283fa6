// Trigonometric functions in double precision, compared with reference results.

#include "measure.h"

ONE(double, sin)
ONE(double, cos)
ONE(double, tan)
ONE(double, sinpi)
ONE(double, cospi)
ONE(double, asin)
ONE(double, acos)
ONE(double, atan)
TWO(double, atan2)
KERNEL(double, sincos_first, 1, first_of(x[0], sincos))
KERNEL(double, sincos_second, 1, second_of(x[0], sincos))
KERNEL(double, sincospi_first, 1, first_of(x[0], sincospi))
KERNEL(double, sincospi_second, 1, second_of(x[0], sincospi))
