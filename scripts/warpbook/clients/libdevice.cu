// Device mathematics under the names that Triton's compiler calls: this project's functions instead
// of NVIDIA's libdevice. clang compiles this file to LLVM bitcode, which TRITON_LIBDEVICE_PATH names.

#include <cuda_runtime.h>

#define GIVEN extern "C" __device__ __attribute__((always_inline, used))

#define OF_ONE(name)                                                 \
    GIVEN float __nv_##name##f(float x) { return name##f(x); }       \
    GIVEN double __nv_##name(double x) { return name(x); }
#define OF_TWO(name)                                                             \
    GIVEN float __nv_##name##f(float x, float y) { return name##f(x, y); }       \
    GIVEN double __nv_##name(double x, double y) { return name(x, y); }

OF_ONE(sqrt)
OF_ONE(rsqrt)
OF_ONE(cbrt)
OF_ONE(rcbrt)
OF_ONE(exp)
OF_ONE(exp2)
OF_ONE(exp10)
OF_ONE(expm1)
OF_ONE(log)
OF_ONE(log2)
OF_ONE(log10)
OF_ONE(log1p)
OF_ONE(logb)
OF_ONE(sin)
OF_ONE(cos)
OF_ONE(tan)
OF_ONE(sinpi)
OF_ONE(cospi)
OF_ONE(asin)
OF_ONE(acos)
OF_ONE(atan)
OF_ONE(sinh)
OF_ONE(cosh)
OF_ONE(tanh)
OF_ONE(asinh)
OF_ONE(acosh)
OF_ONE(atanh)
OF_ONE(erf)
OF_ONE(erfc)
OF_ONE(erfcx)
OF_ONE(erfinv)
OF_ONE(erfcinv)
OF_ONE(normcdf)
OF_ONE(normcdfinv)
OF_ONE(tgamma)
OF_ONE(lgamma)
OF_ONE(j0)
OF_ONE(j1)
OF_ONE(y0)
OF_ONE(y1)
OF_ONE(floor)
OF_ONE(ceil)
OF_ONE(trunc)
OF_ONE(round)
OF_ONE(rint)
OF_ONE(nearbyint)
OF_ONE(fabs)

OF_TWO(pow)
OF_TWO(atan2)
OF_TWO(fmod)
OF_TWO(remainder)
OF_TWO(hypot)
OF_TWO(rhypot)
OF_TWO(fdim)
OF_TWO(fmax)
OF_TWO(fmin)
OF_TWO(copysign)
OF_TWO(nextafter)

GIVEN float __nv_fmaf(float x, float y, float z) { return fmaf(x, y, z); }
GIVEN double __nv_fma(double x, double y, double z) { return fma(x, y, z); }
GIVEN float __nv_powif(float x, int n) { return powf(x, float(n)); }
GIVEN double __nv_powi(double x, int n) { return pow(x, double(n)); }
GIVEN float __nv_ldexpf(float x, int n) { return ldexpf(x, n); }
GIVEN double __nv_ldexp(double x, int n) { return ldexp(x, n); }
