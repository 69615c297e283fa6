// Error, gamma and Bessel functions in single precision, compared with reference results.

#include "measure.h"

ONE(float, erff)
ONE(float, erfcf)
ONE(float, erfcxf)
ONE(float, erfinvf)
ONE(float, erfcinvf)
ONE(float, normcdff)
ONE(float, normcdfinvf)
ONE(float, lgammaf)
ONE(float, tgammaf)
ONE(float, j0f)
ONE(float, j1f)
ONE(float, y0f)
ONE(float, y1f)
ONE(float, cyl_bessel_i0f)
ONE(float, cyl_bessel_i1f)
ORDER(float, jnf)
ORDER(float, ynf)
