// Square roots and their reciprocals.

#pragma once

#include "core.h"

namespace __cuda_math {

__CUDA_MATH float inverse_root(float x) { return __nvvm_rsqrt_approx_f(x); }
__CUDA_MATH double inverse_root(double x) {
    const double y = __nvvm_rsqrt_approx_d(x);
    // For 0 and infinity the estimate is exact, and the correction would produce NaN.
    if (!(x > 0.0 && x < infinity(x))) return y;
    const double e = madd(-mul(x, y), y, 1.0);
    return madd(y * e, madd(0.375, e, 0.5), y);
}

} // namespace __cuda_math

__CUDA_MATH double sqrt(double x) { return __cuda_math::root(x); }
__CUDA_MATH double rsqrt(double x) { return __cuda_math::inverse_root(x); }

__CUDA_MATH float sqrtf(float x) {
#if __CUDA_MATH_FAST
    return __nvvm_sqrt_approx_f(x);
#else
    return __cuda_math::root(x);
#endif
}
__CUDA_MATH float rsqrtf(float x) { return __cuda_math::inverse_root(x); }
