// Maxima and minima of sums, of three numbers and of pairs of 16-bit halves (CUDA's "DPX"
// functions), for host and device. Names that end in _relu clamp negative results to 0.

#pragma once

#include "device_fn.h"

// Applies `f` to the two halves of words, each as `T`.
#define WARPBOOK_HALVES(T, f)                                                            \
    ((unsigned int)(unsigned short)(f((T)a, (T)b, (T)c)) |                               \
     (unsigned int)(unsigned short)(f((T)(a >> 16), (T)(b >> 16), (T)(c >> 16))) << 16)

template <typename T> WARPBOOK_BOTH_FN T warpbook_most(T a, T b) { return a < b ? b : a; }
template <typename T> WARPBOOK_BOTH_FN T warpbook_least(T a, T b) { return b < a ? b : a; }
// Adds with wrap-around: sums have as many bits as their terms.
template <typename T> WARPBOOK_BOTH_FN T warpbook_sum(T a, T b) {
    return (T)((unsigned int)a + (unsigned int)b);
}
template <typename T> WARPBOOK_BOTH_FN T warpbook_max3(T a, T b, T c) {
    return warpbook_most(warpbook_most(a, b), c);
}
template <typename T> WARPBOOK_BOTH_FN T warpbook_min3(T a, T b, T c) {
    return warpbook_least(warpbook_least(a, b), c);
}
template <typename T> WARPBOOK_BOTH_FN T warpbook_addmax(T a, T b, T c) {
    return warpbook_most(warpbook_sum(a, b), c);
}
template <typename T> WARPBOOK_BOTH_FN T warpbook_addmin(T a, T b, T c) {
    return warpbook_least(warpbook_sum(a, b), c);
}
template <typename T> WARPBOOK_BOTH_FN T warpbook_max3_relu(T a, T b, T c) {
    return warpbook_most(warpbook_max3(a, b, c), (T)0);
}
template <typename T> WARPBOOK_BOTH_FN T warpbook_min3_relu(T a, T b, T c) {
    return warpbook_most(warpbook_min3(a, b, c), (T)0);
}
template <typename T> WARPBOOK_BOTH_FN T warpbook_addmax_relu(T a, T b, T c) {
    return warpbook_most(warpbook_addmax(a, b, c), (T)0);
}
template <typename T> WARPBOOK_BOTH_FN T warpbook_addmin_relu(T a, T b, T c) {
    return warpbook_most(warpbook_addmin(a, b, c), (T)0);
}

#define WARPBOOK_DPX_SIGNED(cuda, ours, end)                                              \
    WARPBOOK_BOTH_FN int cuda##_s32##end(int a, int b, int c) { return ours##end(a, b, c); } \
    WARPBOOK_BOTH_FN unsigned int cuda##_s16x2##end(unsigned int a, unsigned int b,       \
                                                    unsigned int c) {                     \
        return WARPBOOK_HALVES(short, ours##end);                                         \
    }
#define WARPBOOK_DPX(cuda, ours)                                                          \
    WARPBOOK_DPX_SIGNED(cuda, ours, )                                                     \
    WARPBOOK_DPX_SIGNED(cuda, ours, _relu)                                                \
    WARPBOOK_BOTH_FN unsigned int cuda##_u32(unsigned int a, unsigned int b, unsigned int c) { \
        return ours(a, b, c);                                                             \
    }                                                                                     \
    WARPBOOK_BOTH_FN unsigned int cuda##_u16x2(unsigned int a, unsigned int b, unsigned int c) { \
        return WARPBOOK_HALVES(unsigned short, ours);                                     \
    }
WARPBOOK_DPX(__vimax3, warpbook_max3)
WARPBOOK_DPX(__vimin3, warpbook_min3)
WARPBOOK_DPX(__viaddmax, warpbook_addmax)
WARPBOOK_DPX(__viaddmin, warpbook_addmin)
#undef WARPBOOK_DPX
#undef WARPBOOK_DPX_SIGNED
#undef WARPBOOK_HALVES

// Maxima and minima of two numbers, clamped to at least 0.
WARPBOOK_BOTH_FN int __vimax_s32_relu(int a, int b) { return __vimax3_s32_relu(a, b, b); }
WARPBOOK_BOTH_FN int __vimin_s32_relu(int a, int b) { return __vimin3_s32_relu(a, b, b); }
WARPBOOK_BOTH_FN unsigned int __vimax_s16x2_relu(unsigned int a, unsigned int b) {
    return __vimax3_s16x2_relu(a, b, b);
}
WARPBOOK_BOTH_FN unsigned int __vimin_s16x2_relu(unsigned int a, unsigned int b) {
    return __vimin3_s16x2_relu(a, b, b);
}

// Stores whether the first of the two is the result; if they are equal, it is.
#define WARPBOOK_DPX_WHICH(name, compared, three)                                         \
    WARPBOOK_BOTH_FN int name##_s32(int a, int b, bool *first) {                          \
        *first = a compared b;                                                            \
        return *first ? a : b;                                                            \
    }                                                                                     \
    WARPBOOK_BOTH_FN unsigned int name##_u32(unsigned int a, unsigned int b, bool *first) { \
        *first = a compared b;                                                            \
        return *first ? a : b;                                                            \
    }                                                                                     \
    WARPBOOK_BOTH_FN unsigned int name##_s16x2(unsigned int a, unsigned int b, bool *high, \
                                               bool *low) {                               \
        *high = (short)(a >> 16) compared (short)(b >> 16);                               \
        *low = (short)a compared (short)b;                                                \
        return three##_s16x2(a, b, b);                                                    \
    }                                                                                     \
    WARPBOOK_BOTH_FN unsigned int name##_u16x2(unsigned int a, unsigned int b, bool *high, \
                                               bool *low) {                               \
        *high = (a >> 16) compared (b >> 16);                                             \
        *low = (unsigned short)a compared (unsigned short)b;                              \
        return three##_u16x2(a, b, b);                                                    \
    }
WARPBOOK_DPX_WHICH(__vibmax, >=, __vimax3)
WARPBOOK_DPX_WHICH(__vibmin, <=, __vimin3)
#undef WARPBOOK_DPX_WHICH
