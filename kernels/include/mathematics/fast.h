// Fast, approximate mathematics.

#pragma once

#include "core.h"

// With -ftz=true subnormal floats are flushed to 0.
#if defined(__CUDA_FTZ)
#define __CUDA_MATH_APPROX(op) __nvvm_##op##_approx_ftz_f
#else
#define __CUDA_MATH_APPROX(op) __nvvm_##op##_approx_f
#endif

__CUDA_MATH float __sinf(float x) { return __CUDA_MATH_APPROX(sin)(x); }
__CUDA_MATH float __cosf(float x) { return __CUDA_MATH_APPROX(cos)(x); }
__CUDA_MATH void __sincosf(float x, float *s, float *c) {
    *s = __CUDA_MATH_APPROX(sin)(x);
    *c = __CUDA_MATH_APPROX(cos)(x);
}
__CUDA_MATH float __fdividef(float x, float y) { return __CUDA_MATH_APPROX(div)(x, y); }
__CUDA_MATH float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
__CUDA_MATH float __expf(float x) { return __CUDA_MATH_APPROX(ex2)(x * 1.44269502f); }
__CUDA_MATH float __exp2f(float x) { return __CUDA_MATH_APPROX(ex2)(x); }
__CUDA_MATH float __exp10f(float x) { return __CUDA_MATH_APPROX(ex2)(x * 3.32192802f); }
__CUDA_MATH float __log2f(float x) { return __CUDA_MATH_APPROX(lg2)(x); }
__CUDA_MATH float __logf(float x) { return __CUDA_MATH_APPROX(lg2)(x) * 0.693147182f; }
__CUDA_MATH float __log10f(float x) { return __CUDA_MATH_APPROX(lg2)(x) * 0.30103001f; }
__CUDA_MATH float __powf(float x, float y) { return __CUDA_MATH_APPROX(ex2)(y * __CUDA_MATH_APPROX(lg2)(x)); }
__CUDA_MATH float __saturatef(float x) { return __nvvm_saturate_f(x); }
__CUDA_MATH float __tanhf(float x) {
#if __CUDA_ARCH__ >= 750
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return __CUDA_MATH_APPROX(div)(-2.0f, __CUDA_MATH_APPROX(ex2)(x * 2.88539004f) + 1.0f) + 1.0f;
#endif
}
#undef __CUDA_MATH_APPROX
