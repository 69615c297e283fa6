// Building blocks of the device mathematics: bits, exact sums and products, polynomials.
//
// clang fuses a * b + c into one rounding wherever it can. Where a rounding must be kept, the code calls
// add and mul: they are never fused, and a compiler that may reassociate sums leaves them unchanged.

#pragma once

// A device function that is always inlined and has no line numbers of its own: its
// instructions are attributed to the calling line.
#define __CUDA_MATH static __inline__ __attribute__((device, always_inline, nodebug, unused))

// -use_fast_math defines one of several macros.
#if defined(__CLANG_CUDA_APPROX_TRANSCENDENTALS__) || defined(__CLANG_GPU_APPROX_TRANSCENDENTALS__) || \
    defined(__USE_FAST_MATH__)
#define __CUDA_MATH_FAST 1
#else
#define __CUDA_MATH_FAST 0
#endif

namespace __cuda_math {

typedef unsigned int word;
typedef unsigned long long word64;

__CUDA_MATH int as_int(float x) { return __builtin_bit_cast(int, x); }
__CUDA_MATH float as_float(int x) { return __builtin_bit_cast(float, x); }
__CUDA_MATH long long as_long(double x) { return __builtin_bit_cast(long long, x); }
__CUDA_MATH double as_double(long long x) { return __builtin_bit_cast(double, x); }
// Returns the upper half of a double: sign, exponent, 20 bits of the fraction.
__CUDA_MATH int high(double x) { return (int)(as_long(x) >> 32); }

__CUDA_MATH float magnitude(float x) { return __builtin_fabsf(x); }
__CUDA_MATH double magnitude(double x) { return __builtin_fabs(x); }
__CUDA_MATH float with_sign(float x, float sign) {
    return as_float((as_int(x) & 0x7fffffff) | (as_int(sign) & (int)0x80000000));
}
__CUDA_MATH double with_sign(double x, double sign) {
    return as_double((as_long(x) & 0x7fffffffffffffffll) | (as_long(sign) & (long long)(1ull << 63)));
}
__CUDA_MATH bool is_negative(float x) { return as_int(x) < 0; }
__CUDA_MATH bool is_negative(double x) { return as_long(x) < 0; }
__CUDA_MATH bool is_nan(float x) { return (as_int(x) & 0x7fffffff) > 0x7f800000; }
__CUDA_MATH bool is_nan(double x) { return (as_long(x) & 0x7fffffffffffffffll) > 0x7ff0000000000000ll; }
__CUDA_MATH bool is_inf(float x) { return (as_int(x) & 0x7fffffff) == 0x7f800000; }
__CUDA_MATH bool is_inf(double x) { return (as_long(x) & 0x7fffffffffffffffll) == 0x7ff0000000000000ll; }

__CUDA_MATH float infinity(float) { return as_float(0x7f800000); }
__CUDA_MATH double infinity(double) { return as_double(0x7ff0000000000000ll); }
__CUDA_MATH float not_a_number(float) { return as_float(0x7fffffff); }
__CUDA_MATH double not_a_number(double) { return as_double((long long)0xfff8000000000000ull); }

// Operations with one rounding each, never contracted with neighbouring code. clang's builtins
// for them become plain multiplications and additions, which are fused like any other.
__CUDA_MATH float mul(float a, float b) {
    float result;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}
__CUDA_MATH double mul(double a, double b) {
    double result;
    asm("mul.rn.f64 %0, %1, %2;" : "=d"(result) : "d"(a), "d"(b));
    return result;
}
__CUDA_MATH float add(float a, float b) {
    float result;
    asm("add.rn.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}
__CUDA_MATH double add(double a, double b) {
    double result;
    asm("add.rn.f64 %0, %1, %2;" : "=d"(result) : "d"(a), "d"(b));
    return result;
}
__CUDA_MATH float sub(float a, float b) {
    float result;
    asm("sub.rn.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}
__CUDA_MATH double sub(double a, double b) {
    double result;
    asm("sub.rn.f64 %0, %1, %2;" : "=d"(result) : "d"(a), "d"(b));
    return result;
}
// Returns a * b + c, rounded once.
__CUDA_MATH float madd(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
__CUDA_MATH double madd(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
__CUDA_MATH float root(float x) { return __nvvm_sqrt_rn_f(x); }
__CUDA_MATH double root(double x) { return __nvvm_sqrt_rn_d(x); }
__CUDA_MATH float divide(float a, float b) { return __nvvm_div_rn_f(a, b); }
__CUDA_MATH double divide(double a, double b) { return __nvvm_div_rn_d(a, b); }

// Returns the nearest integer; ties go to even.
__CUDA_MATH float nearest(float x) { return __builtin_rintf(x); }
__CUDA_MATH double nearest(double x) { return __builtin_rint(x); }
__CUDA_MATH float whole(float x) { return __builtin_truncf(x); }
__CUDA_MATH double whole(double x) { return __builtin_trunc(x); }

// Returns 2^n, which must be a normal number.
__CUDA_MATH float power_of_two(int n, float) { return as_float((n + 127) << 23); }
__CUDA_MATH double power_of_two(int n, double) { return as_double((long long)(n + 1023) << 52); }

// Returns x * 2^n, rounded once, for x near 1 and n from -300 (double: -2000) to 250 (double: 2000).
template <class T> __CUDA_MATH T scaled(T x, int n) {
    const int half = n >> 1;
    return x * power_of_two(half, x) * power_of_two(n - half, x);
}

// Evaluates a polynomial by Horner's scheme, constant coefficient first. Unrolled four at a
// time, which takes a tenth of the compile time of one at a time.
template <class T> __CUDA_MATH T horner(T, T a) { return a; }
template <class T> __CUDA_MATH T horner(T x, T a, T b) { return madd(b, x, a); }
template <class T> __CUDA_MATH T horner(T x, T a, T b, T c) { return madd(madd(c, x, b), x, a); }
template <class T> __CUDA_MATH T horner(T x, T a, T b, T c, T d) {
    return madd(madd(madd(d, x, c), x, b), x, a);
}
template <class T, class... Rest> __CUDA_MATH T horner(T x, T a, T b, T c, T d, T e, Rest... rest) {
    return madd(madd(madd(madd(horner(x, e, rest...), x, d), x, c), x, b), x, a);
}

// A number as an unevaluated sum: `lo` holds the rounding error of `hi`.
template <class T> struct pair {
    T hi, lo;
};

// Returns a + b exactly; |a| must be at least |b|, or a must be 0.
template <class T> __CUDA_MATH pair<T> sum_of_larger(T a, T b) {
    const T hi = add(a, b);
    return {hi, add(sub(a, hi), b)};
}

// Returns a + b exactly.
template <class T> __CUDA_MATH pair<T> sum(T a, T b) {
    const T hi = add(a, b);
    const T of_b = sub(hi, a);
    return {hi, add(sub(a, sub(hi, of_b)), sub(b, of_b))};
}

// Returns a * b exactly.
template <class T> __CUDA_MATH pair<T> product(T a, T b) {
    const T hi = mul(a, b);
    return {hi, madd(a, b, -hi)};
}

// Returns x * 2^n, rounded once.
__CUDA_MATH float shifted(float x, int n) {
    const float small = 0x1p-102f;
    for (int step = 0; step < 2; step++) {
        if (n > 127) {
            x *= 0x1p127f;
            n -= 127;
        } else if (n < -126) {
            x *= small;
            n += 102;
        }
    }
    n = n > 127 ? 127 : n < -126 ? -126 : n;
    return x * power_of_two(n, x);
}
__CUDA_MATH double shifted(double x, int n) {
    const double small = 0x1p-969;
    for (int step = 0; step < 2; step++) {
        if (n > 1023) {
            x *= 0x1p1023;
            n -= 1023;
        } else if (n < -1022) {
            x *= small;
            n += 969;
        }
    }
    n = n > 1023 ? 1023 : n < -1022 ? -1022 : n;
    return x * power_of_two(n, x);
}

} // namespace __cuda_math
