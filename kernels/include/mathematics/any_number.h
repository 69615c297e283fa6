// C++ overloads for arguments other than double, under the names of the double functions.

#pragma once

#include "core.h"

// Floats use the single precision functions.
#define __CUDA_MATH_FLOAT_OF_ONE(name) \
    __CUDA_MATH float name(float x) { return name##f(x); }
#define __CUDA_MATH_FLOAT_OF_TWO(name) \
    __CUDA_MATH float name(float x, float y) { return name##f(x, y); }

// Integers and other arithmetic types are converted to double.
namespace __cuda_math {
template <bool is, class T> struct only_if {};
template <class T> struct only_if<true, T> {
    typedef T type;
};
template <class Number, class T> struct if_whole : only_if<__is_integral(Number), T> {};
template <class A, class B, class T>
struct if_numbers : only_if<__is_arithmetic(A) && __is_arithmetic(B), T> {};
} // namespace __cuda_math

#define __CUDA_MATH_NUMBER_OF_ONE(result, name)                                                                  \
    template <class T> __CUDA_MATH typename __cuda_math::if_whole<T, result>::type name(T x) {         \
        return ::name((double)x);                                                                      \
    }
#define __CUDA_MATH_NUMBER_OF_TWO(result, name)                                                                  \
    template <class A, class B>                                                                        \
    __CUDA_MATH typename __cuda_math::if_numbers<A, B, result>::type name(A x, B y) {                  \
        return ::name((double)x, (double)y);                                                           \
    }
