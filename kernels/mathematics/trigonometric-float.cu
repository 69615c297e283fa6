// Trigonometric functions in single precision, compared with reference results.

#include "measure.h"

ONE(float, sinf)
ONE(float, cosf)
ONE(float, tanf)
ONE(float, sinpif)
ONE(float, cospif)
ONE(float, asinf)
ONE(float, acosf)
ONE(float, atanf)
TWO(float, atan2f)
KERNEL(float, sincosf_first, 1, first_of(x[0], sincosf))
KERNEL(float, sincosf_second, 1, second_of(x[0], sincosf))
KERNEL(float, sincospif_first, 1, first_of(x[0], sincospif))
KERNEL(float, sincospif_second, 1, second_of(x[0], sincospif))
