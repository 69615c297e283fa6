// Reinterprets floats and doubles as integers, and back.

#pragma once

#include "core.h"

__CUDA_MATH int __float_as_int(float x) { return __cuda_math::as_int(x); }
__CUDA_MATH unsigned int __float_as_uint(float x) { return (unsigned int)__cuda_math::as_int(x); }
__CUDA_MATH float __int_as_float(int x) { return __cuda_math::as_float(x); }
__CUDA_MATH float __uint_as_float(unsigned int x) { return __cuda_math::as_float((int)x); }
__CUDA_MATH long long __double_as_longlong(double x) { return __cuda_math::as_long(x); }
__CUDA_MATH double __longlong_as_double(long long x) { return __cuda_math::as_double(x); }
__CUDA_MATH int __double2hiint(double x) { return __cuda_math::high(x); }
__CUDA_MATH int __double2loint(double x) { return (int)__cuda_math::as_long(x); }
__CUDA_MATH double __hiloint2double(int hi, int lo) {
    return __cuda_math::as_double((long long)((unsigned long long)(unsigned int)hi << 32 | (unsigned int)lo));
}
