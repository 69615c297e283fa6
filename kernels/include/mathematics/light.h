// The mathematics that compiles to one or a few instructions, for kernels compiled without the rest, which
// takes longer to compile than most kernels do. Provides C++'s names: sqrt(float), fabs(int), abs, min, isnan.

#pragma once

#include "any_number.h"
#include "bits.h"
#include "core.h"
#include "fast.h"
#include "integers.h"
#include "least_and_most.h"
#include "rounding.h"
#include "square_roots.h"

// ---- Classification --------------------------------------------------------------

__CUDA_MATH bool isnan(double x) { return __cuda_math::is_nan(x); }
__CUDA_MATH bool isnan(float x) { return __cuda_math::is_nan(x); }
__CUDA_MATH bool isinf(double x) { return __cuda_math::is_inf(x); }
__CUDA_MATH bool isinf(float x) { return __cuda_math::is_inf(x); }
__CUDA_MATH bool isfinite(double x) { return !__cuda_math::is_inf(x) && !__cuda_math::is_nan(x); }
__CUDA_MATH bool isfinite(float x) { return !__cuda_math::is_inf(x) && !__cuda_math::is_nan(x); }
__CUDA_MATH bool signbit(double x) { return __cuda_math::is_negative(x); }
__CUDA_MATH bool signbit(float x) { return __cuda_math::is_negative(x); }
__CUDA_MATH bool isnormal(double x) { return isfinite(x) && __cuda_math::magnitude(x) >= 0x1p-1022; }
__CUDA_MATH bool isnormal(float x) { return isfinite(x) && __cuda_math::magnitude(x) >= 0x1p-126f; }
__CUDA_MATH int __isnan(double x) { return isnan(x); }
__CUDA_MATH int __isnanf(float x) { return isnan(x); }
__CUDA_MATH int __isinf(double x) { return isinf(x); }
__CUDA_MATH int __isinff(float x) { return isinf(x); }
__CUDA_MATH int __finite(double x) { return isfinite(x); }
__CUDA_MATH int __finitef(float x) { return isfinite(x); }
__CUDA_MATH int __isfinited(double x) { return isfinite(x); }
__CUDA_MATH int __signbit(double x) { return signbit(x); }
__CUDA_MATH int __signbitd(double x) { return signbit(x); }
__CUDA_MATH int __signbitf(float x) { return signbit(x); }

// ---- Float overloads of the double functions ----------------------------------------

__CUDA_MATH_FLOAT_OF_ONE(ceil) __CUDA_MATH_FLOAT_OF_ONE(fabs) __CUDA_MATH_FLOAT_OF_ONE(floor)
__CUDA_MATH_FLOAT_OF_ONE(nearbyint) __CUDA_MATH_FLOAT_OF_ONE(rint) __CUDA_MATH_FLOAT_OF_ONE(round)
__CUDA_MATH_FLOAT_OF_ONE(rsqrt) __CUDA_MATH_FLOAT_OF_ONE(sqrt) __CUDA_MATH_FLOAT_OF_ONE(trunc)
__CUDA_MATH_FLOAT_OF_TWO(copysign) __CUDA_MATH_FLOAT_OF_TWO(fdim) __CUDA_MATH_FLOAT_OF_TWO(fmax)
__CUDA_MATH_FLOAT_OF_TWO(fmin)
__CUDA_MATH float fma(float x, float y, float z) { return fmaf(x, y, z); }

// ---- Integers ---------------------------------------------------------------------

__CUDA_MATH int abs(int x) { return x < 0 ? -x : x; }
__CUDA_MATH long abs(long x) { return x < 0 ? -x : x; }
__CUDA_MATH long long abs(long long x) { return x < 0 ? -x : x; }
__CUDA_MATH float abs(float x) { return fabsf(x); }
__CUDA_MATH double abs(double x) { return fabs(x); }
__CUDA_MATH long labs(long x) { return x < 0 ? -x : x; }
__CUDA_MATH long long llabs(long long x) { return x < 0 ? -x : x; }

// ---- Other arithmetic types ---------------------------------------------------------

__CUDA_MATH_NUMBER_OF_ONE(double, ceil) __CUDA_MATH_NUMBER_OF_ONE(double, fabs)
__CUDA_MATH_NUMBER_OF_ONE(double, floor) __CUDA_MATH_NUMBER_OF_ONE(double, nearbyint)
__CUDA_MATH_NUMBER_OF_ONE(double, rint) __CUDA_MATH_NUMBER_OF_ONE(double, round)
__CUDA_MATH_NUMBER_OF_ONE(double, rsqrt) __CUDA_MATH_NUMBER_OF_ONE(double, sqrt)
__CUDA_MATH_NUMBER_OF_ONE(double, trunc) __CUDA_MATH_NUMBER_OF_ONE(bool, isfinite)
__CUDA_MATH_NUMBER_OF_ONE(bool, isinf) __CUDA_MATH_NUMBER_OF_ONE(bool, isnan)
__CUDA_MATH_NUMBER_OF_ONE(bool, isnormal) __CUDA_MATH_NUMBER_OF_ONE(bool, signbit)
__CUDA_MATH_NUMBER_OF_TWO(double, copysign) __CUDA_MATH_NUMBER_OF_TWO(double, fdim)
__CUDA_MATH_NUMBER_OF_TWO(double, fmax) __CUDA_MATH_NUMBER_OF_TWO(double, fmin)
template <class A, class B, class C>
__CUDA_MATH typename __cuda_math::if_numbers<A, B, typename __cuda_math::if_numbers<C, C, double>::type>::type
fma(A x, B y, C z) {
    return ::fma((double)x, (double)y, (double)z);
}
