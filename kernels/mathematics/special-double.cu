// Error, gamma and Bessel functions in double precision, compared with reference results.

#include "measure.h"

ONE(double, erf)
ONE(double, erfc)
ONE(double, erfcx)
ONE(double, erfinv)
ONE(double, erfcinv)
ONE(double, normcdf)
ONE(double, normcdfinv)
ONE(double, lgamma)
ONE(double, tgamma)
ONE(double, j0)
ONE(double, j1)
ONE(double, y0)
ONE(double, y1)
ONE(double, cyl_bessel_i0)
ONE(double, cyl_bessel_i1)
ORDER(double, jn)
ORDER(double, yn)
