// Arithmetic and comparisons of 16-bit floating-point numbers: included once for
// half and once for bfloat16.
//
// WARPBOOK_NARROW_NATIVE is true if the GPU adds and compares such numbers in hardware,
// WARPBOOK_NARROW_FMA if it has a fused multiply-add; otherwise, and on the host, the operation
// is done in float, which has enough digits for the result to be rounded a second time.

#define WARPBOOK_NARROW_BITS2(v) warpbook_bits_as<unsigned int>(v)

#if WARPBOOK_NARROW_NATIVE
#define WARPBOOK_NARROW_BINARY(name, instruction, exact)                                     \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW name(WARPBOOK_NARROW a, WARPBOOK_NARROW b) {          \
        WARPBOOK_NARROW r;                                                                   \
        asm(instruction "." WARPBOOK_NARROW_PTX " %0, %1, %2;"                               \
            : "=h"(r.__x) : "h"(a.__x), "h"(b.__x));                                         \
        return r;                                                                            \
    }
#define WARPBOOK_NARROW_BINARY2(name, scalar, instruction)                                   \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW2 name(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b) {       \
        unsigned int r;                                                                      \
        asm(instruction "." WARPBOOK_NARROW_PTX "x2 %0, %1, %2;"                             \
            : "=r"(r) : "r"(WARPBOOK_NARROW_BITS2(a)), "r"(WARPBOOK_NARROW_BITS2(b)));       \
        return warpbook_bits_as<WARPBOOK_NARROW2>(r);                                        \
    }
#define WARPBOOK_NARROW_COMPARE(name, instruction, exact)                                    \
    WARPBOOK_NARROW_FN bool name(WARPBOOK_NARROW a, WARPBOOK_NARROW b) {                     \
        unsigned int r;                                                                      \
        asm("{.reg .pred p; setp." instruction "." WARPBOOK_NARROW_PTX " p, %1, %2;"         \
            " selp.u32 %0, 1, 0, p;}"                                                        \
            : "=r"(r) : "h"(a.__x), "h"(b.__x));                                             \
        return r != 0;                                                                       \
    }
#else
#define WARPBOOK_NARROW_BINARY(name, instruction, exact)                                     \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW name(WARPBOOK_NARROW a, WARPBOOK_NARROW b) {          \
        const float x = WARPBOOK_NARROW_TO(a.__x), y = WARPBOOK_NARROW_TO(b.__x);            \
        return WARPBOOK_NARROW(exact);                                                       \
    }
#define WARPBOOK_NARROW_BINARY2(name, scalar, instruction)                                   \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW2 name(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b) {       \
        return WARPBOOK_NARROW2(scalar(a.x, b.x), scalar(a.y, b.y));                         \
    }
#define WARPBOOK_NARROW_COMPARE(name, instruction, exact)                                    \
    WARPBOOK_NARROW_FN bool name(WARPBOOK_NARROW a, WARPBOOK_NARROW b) {                     \
        const float x = WARPBOOK_NARROW_TO(a.__x), y = WARPBOOK_NARROW_TO(b.__x);            \
        return exact;                                                                        \
    }
#endif

#if WARPBOOK_NARROW_FMA
#define WARPBOOK_NARROW_TERNARY(name, instruction, exact)                            \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW name(WARPBOOK_NARROW a, WARPBOOK_NARROW b,            \
                                            WARPBOOK_NARROW c) {                             \
        WARPBOOK_NARROW r;                                                                   \
        asm(instruction "." WARPBOOK_NARROW_PTX " %0, %1, %2, %3;"                           \
            : "=h"(r.__x) : "h"(a.__x), "h"(b.__x), "h"(c.__x));                             \
        return r;                                                                            \
    }
#define WARPBOOK_NARROW_TERNARY2(name, scalar, instruction)                                  \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW2 name(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b,         \
                                             WARPBOOK_NARROW2 c) {                           \
        unsigned int r;                                                                      \
        asm(instruction "." WARPBOOK_NARROW_PTX "x2 %0, %1, %2, %3;"                         \
            : "=r"(r)                                                                        \
            : "r"(WARPBOOK_NARROW_BITS2(a)), "r"(WARPBOOK_NARROW_BITS2(b)),                  \
              "r"(WARPBOOK_NARROW_BITS2(c)));                                                \
        return warpbook_bits_as<WARPBOOK_NARROW2>(r);                                        \
    }
#else
#define WARPBOOK_NARROW_TERNARY(name, instruction, exact)                            \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW name(WARPBOOK_NARROW a, WARPBOOK_NARROW b,            \
                                            WARPBOOK_NARROW c) {                             \
        const double x = warpbook_odd_fma(a, b, c);                                          \
        return WARPBOOK_NARROW(exact);                                                       \
    }
#define WARPBOOK_NARROW_TERNARY2(name, scalar, instruction)                                  \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW2 name(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b,         \
                                             WARPBOOK_NARROW2 c) {                           \
        return WARPBOOK_NARROW2(scalar(a.x, b.x, c.x), scalar(a.y, b.y, c.y));               \
    }
#endif

// Clamps to 0 and 1; NaN becomes 0.
#define WARPBOOK_NARROW_SAT(x) ((x) > 0 ? (x) < 1 ? (x) : 1 : 0)

WARPBOOK_NARROW_BINARY(__hadd, "add", x + y)
WARPBOOK_NARROW_BINARY(__hsub, "sub", x - y)
WARPBOOK_NARROW_BINARY(__hmul, "mul", x *y)
WARPBOOK_NARROW_BINARY(__hadd_rn, "add.rn", x + y)
WARPBOOK_NARROW_BINARY(__hsub_rn, "sub.rn", x - y)
WARPBOOK_NARROW_BINARY(__hmul_rn, "mul.rn", x *y)
WARPBOOK_NARROW_BINARY2(__hadd2, __hadd, "add")
WARPBOOK_NARROW_BINARY2(__hsub2, __hsub, "sub")
WARPBOOK_NARROW_BINARY2(__hmul2, __hmul, "mul")
WARPBOOK_NARROW_BINARY2(__hadd2_rn, __hadd, "add.rn")
WARPBOOK_NARROW_BINARY2(__hsub2_rn, __hsub, "sub.rn")
WARPBOOK_NARROW_BINARY2(__hmul2_rn, __hmul, "mul.rn")
WARPBOOK_NARROW_TERNARY(__hfma, "fma.rn", x)
WARPBOOK_NARROW_TERNARY2(__hfma2, __hfma, "fma.rn")

// Changes the sign; every NaN becomes the canonical NaN.
#define WARPBOOK_NARROW_SIGN(name, bits)                                                     \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW name(WARPBOOK_NARROW a) {                             \
        const unsigned short x = a.__x;                                                      \
        a.__x = (float)a != (float)a ? 0x7fff : (unsigned short)(bits);                      \
        return a;                                                                            \
    }
WARPBOOK_NARROW_SIGN(__hneg, x ^ 0x8000)
WARPBOOK_NARROW_SIGN(__habs, x & 0x7fff)
#undef WARPBOOK_NARROW_SIGN
WARPBOOK_NARROW_FN WARPBOOK_NARROW __hdiv(WARPBOOK_NARROW a, WARPBOOK_NARROW b) {
    return WARPBOOK_NARROW((float)a / (float)b);
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 __h2div(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b) {
    return WARPBOOK_NARROW2(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 __hneg2(WARPBOOK_NARROW2 a) {
    return WARPBOOK_NARROW2(__hneg(a.x), __hneg(a.y));
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 __habs2(WARPBOOK_NARROW2 a) {
    return WARPBOOK_NARROW2(__habs(a.x), __habs(a.y));
}

// Saturating forms, clamped to 0 and 1, and forms clamped to at least 0.
#define WARPBOOK_NARROW_SAT_BINARY(name, operation)                                          \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW name##_sat(WARPBOOK_NARROW a, WARPBOOK_NARROW b) {    \
        const float x = operation(a, b);                                                     \
        return WARPBOOK_NARROW((float)WARPBOOK_NARROW_SAT(x));                               \
    }                                                                                        \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW2 name##2_sat(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b) { \
        return WARPBOOK_NARROW2(name##_sat(a.x, b.x), name##_sat(a.y, b.y));                 \
    }
WARPBOOK_NARROW_SAT_BINARY(__hadd, __hadd)
WARPBOOK_NARROW_SAT_BINARY(__hsub, __hsub)
WARPBOOK_NARROW_SAT_BINARY(__hmul, __hmul)
#undef WARPBOOK_NARROW_SAT_BINARY
WARPBOOK_NARROW_FN WARPBOOK_NARROW __hfma_sat(WARPBOOK_NARROW a, WARPBOOK_NARROW b,
                                              WARPBOOK_NARROW c) {
    const float x = __hfma(a, b, c);
    return WARPBOOK_NARROW((float)WARPBOOK_NARROW_SAT(x));
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW __hfma_relu(WARPBOOK_NARROW a, WARPBOOK_NARROW b,
                                               WARPBOOK_NARROW c) {
    const WARPBOOK_NARROW r = __hfma(a, b, c);
    return (float)r <= 0 ? WARPBOOK_NARROW(0.0f) : r;
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 __hfma2_sat(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b,
                                                WARPBOOK_NARROW2 c) {
    return WARPBOOK_NARROW2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 __hfma2_relu(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b,
                                                 WARPBOOK_NARROW2 c) {
    return WARPBOOK_NARROW2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}
// Multiplies and adds complex numbers: x is the real part, y the imaginary.
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 __hcmadd(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b,
                                             WARPBOOK_NARROW2 c) {
    const WARPBOOK_NARROW real = __hfma(a.x, b.x, c.x), imaginary = __hfma(a.x, b.y, c.y);
    return WARPBOOK_NARROW2(__hfma(__hneg(a.y), b.y, real), __hfma(a.y, b.x, imaginary));
}

// Comparisons; the unordered ones (with a `u`) are true if a value is NaN.
#define WARPBOOK_NARROW_COMPARED_PAIR(scalar, pair)                                          \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW2 __h##pair(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b) {  \
        return WARPBOOK_NARROW2((float)__h##scalar(a.x, b.x), (float)__h##scalar(a.y, b.y)); \
    }                                                                                        \
    WARPBOOK_NARROW_FN bool __hb##pair(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b) {             \
        return __h##scalar(a.x, b.x) && __h##scalar(a.y, b.y);                               \
    }                                                                                        \
    WARPBOOK_NARROW_FN unsigned int __h##pair##_mask(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b) { \
        return (__h##scalar(a.x, b.x) ? 0xffffu : 0u) |                                      \
               (__h##scalar(a.y, b.y) ? 0xffff0000u : 0u);                                   \
    }
#define WARPBOOK_NARROW_COMPARISONS(name, exact)                                             \
    WARPBOOK_NARROW_COMPARE(__h##name, #name, exact)                                         \
    WARPBOOK_NARROW_COMPARE(__h##name##u, #name "u", (exact) || x != x || y != y)            \
    WARPBOOK_NARROW_COMPARED_PAIR(name, name##2)                                             \
    WARPBOOK_NARROW_COMPARED_PAIR(name##u, name##u2)
WARPBOOK_NARROW_COMPARISONS(eq, x == y)
WARPBOOK_NARROW_COMPARISONS(ne, x < y || x > y)
WARPBOOK_NARROW_COMPARISONS(lt, x < y)
WARPBOOK_NARROW_COMPARISONS(le, x <= y)
WARPBOOK_NARROW_COMPARISONS(gt, x > y)
WARPBOOK_NARROW_COMPARISONS(ge, x >= y)
#undef WARPBOOK_NARROW_COMPARISONS
#undef WARPBOOK_NARROW_COMPARED_PAIR

WARPBOOK_NARROW_FN bool __hisnan(WARPBOOK_NARROW a) { return (float)a != (float)a; }
WARPBOOK_NARROW_FN int __hisinf(WARPBOOK_NARROW a) {
    const float x = a;
    return x == __builtin_inff() ? 1 : x == -__builtin_inff() ? -1 : 0;
}
WARPBOOK_NARROW_FN WARPBOOK_NARROW2 __hisnan2(WARPBOOK_NARROW2 a) {
    return WARPBOOK_NARROW2((float)__hisnan(a.x), (float)__hisnan(a.y));
}

// Minimum and maximum: if one argument is NaN, the other; with `_nan`,
// NaN. -0 is smaller than 0.
#define WARPBOOK_NARROW_CHOICE(name, less)                                                   \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW __h##name(WARPBOOK_NARROW a, WARPBOOK_NARROW b) {     \
        if (__hisnan(a)) return __hisnan(b) ? WARPBOOK_NAME(__ushort_as_, )(0x7fff) : b;     \
        if (__hisnan(b)) return a;                                                           \
        const float x = a, y = b;                                                            \
        if (x == y) return (a.__x >> 15) less(b.__x >> 15) ? b : a;                          \
        return y less x ? b : a;                                                             \
    }                                                                                        \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW __h##name##_nan(WARPBOOK_NARROW a, WARPBOOK_NARROW b) { \
        if (__hisnan(a) || __hisnan(b)) return WARPBOOK_NAME(__ushort_as_, )(0x7fff);        \
        return __h##name(a, b);                                                              \
    }                                                                                        \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW2 __h##name##2(WARPBOOK_NARROW2 a, WARPBOOK_NARROW2 b) { \
        return WARPBOOK_NARROW2(__h##name(a.x, b.x), __h##name(a.y, b.y));                   \
    }                                                                                        \
    WARPBOOK_NARROW_FN WARPBOOK_NARROW2 __h##name##2_nan(WARPBOOK_NARROW2 a,                 \
                                                         WARPBOOK_NARROW2 b) {               \
        return WARPBOOK_NARROW2(__h##name##_nan(a.x, b.x), __h##name##_nan(a.y, b.y));       \
    }
WARPBOOK_NARROW_CHOICE(min, <)
WARPBOOK_NARROW_CHOICE(max, >)
#undef WARPBOOK_NARROW_CHOICE

#undef WARPBOOK_NARROW_SAT
#undef WARPBOOK_NARROW_TERNARY2
#undef WARPBOOK_NARROW_TERNARY
#undef WARPBOOK_NARROW_COMPARE
#undef WARPBOOK_NARROW_BINARY2
#undef WARPBOOK_NARROW_BINARY
#undef WARPBOOK_NARROW_BITS2
