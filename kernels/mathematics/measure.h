// One kernel per function: out[i] = f(in[i]), or of two, three or four consecutive inputs.
// Integer results are stored as numbers of the function's type.

#pragma once

#include "include/math_functions.h"

#define KERNEL(T, name, count, result)                                                            \
    extern "C" __attribute__((global)) void of_##name(const T *in, T *out, unsigned n) {          \
        const unsigned i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +       \
                           __nvvm_read_ptx_sreg_tid_x();                                          \
        if (i >= n) return;                                                                       \
        const T *x = in + count * i;                                                              \
        out[i] = (T)(result);                                                                     \
    }
#define ONE(T, name) KERNEL(T, name, 1, name(x[0]))
#define TWO(T, name) KERNEL(T, name, 2, name(x[0], x[1]))
#define THREE(T, name) KERNEL(T, name, 3, name(x[0], x[1], x[2]))
#define FOUR(T, name) KERNEL(T, name, 4, name(x[0], x[1], x[2], x[3]))
// The first argument is an integer.
#define ORDER(T, name) KERNEL(T, name, 2, name((int)x[0], x[1]))
// The second argument is an integer.
#define SHIFT(T, name) KERNEL(T, name, 2, name(x[0], (int)x[1]))

// Returns the first or the second result of a function with two results.
template <class T> __CUDA_MATH T first_of(T x, void f(T, T *, T *)) {
    T one, other;
    f(x, &one, &other);
    return one;
}
template <class T> __CUDA_MATH T second_of(T x, void f(T, T *, T *)) {
    T one, other;
    f(x, &one, &other);
    return other;
}
