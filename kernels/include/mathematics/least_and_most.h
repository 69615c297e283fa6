// min and max, with CUDA's overloads for all pairs of types that kernels use.

#pragma once

#include "core.h"

#define __CUDA_MATH_LEAST_AND_MOST(result, A, B)                                         \
    __CUDA_MATH result min(A x, B y) { return (result)y < (result)x ? (result)y : (result)x; } \
    __CUDA_MATH result max(A x, B y) { return (result)x < (result)y ? (result)y : (result)x; }
#define __CUDA_MATH_WITH_AND_WITHOUT_SIGN(type)                         \
    __CUDA_MATH_LEAST_AND_MOST(type, type, type)                        \
    __CUDA_MATH_LEAST_AND_MOST(unsigned type, unsigned type, unsigned type) \
    __CUDA_MATH_LEAST_AND_MOST(unsigned type, type, unsigned type)      \
    __CUDA_MATH_LEAST_AND_MOST(unsigned type, unsigned type, type)
__CUDA_MATH_WITH_AND_WITHOUT_SIGN(int)
__CUDA_MATH_WITH_AND_WITHOUT_SIGN(long)
__CUDA_MATH_WITH_AND_WITHOUT_SIGN(long long)
#undef __CUDA_MATH_WITH_AND_WITHOUT_SIGN
#undef __CUDA_MATH_LEAST_AND_MOST

// If one argument is NaN, the result is the other.
__CUDA_MATH float min(float x, float y) { return __nvvm_fmin_f(x, y); }
__CUDA_MATH float max(float x, float y) { return __nvvm_fmax_f(x, y); }
__CUDA_MATH double min(double x, double y) { return __nvvm_fmin_d(x, y); }
__CUDA_MATH double max(double x, double y) { return __nvvm_fmax_d(x, y); }
__CUDA_MATH double min(float x, double y) { return __nvvm_fmin_d((double)x, y); }
__CUDA_MATH double max(float x, double y) { return __nvvm_fmax_d((double)x, y); }
__CUDA_MATH double min(double x, float y) { return __nvvm_fmin_d(x, (double)y); }
__CUDA_MATH double max(double x, float y) { return __nvvm_fmax_d(x, (double)y); }

__CUDA_MATH unsigned int umin(unsigned int x, unsigned int y) { return min(x, y); }
__CUDA_MATH unsigned int umax(unsigned int x, unsigned int y) { return max(x, y); }
__CUDA_MATH long long llmin(long long x, long long y) { return min(x, y); }
__CUDA_MATH long long llmax(long long x, long long y) { return max(x, y); }
__CUDA_MATH unsigned long long ullmin(unsigned long long x, unsigned long long y) { return min(x, y); }
__CUDA_MATH unsigned long long ullmax(unsigned long long x, unsigned long long y) { return max(x, y); }
