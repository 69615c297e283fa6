// `make_float4` and its relatives, for host and device.

#pragma once
#define __VECTOR_FUNCTIONS_H__ // guard that programs test

#include "vector_types.h"

#if defined(__CUDA__)
#include "warpbook/device_fn.h"
#define WARPBOOK_MAKE_FN WARPBOOK_BOTH_FN
#else
#define WARPBOOK_MAKE_FN static inline
#endif

#define WARPBOOK_MAKE(T, name)                                                             \
    WARPBOOK_MAKE_FN name##1 make_##name##1(T x) { name##1 v = {x}; return v; }            \
    WARPBOOK_MAKE_FN name##2 make_##name##2(T x, T y) { name##2 v = {x, y}; return v; }    \
    WARPBOOK_MAKE_FN name##3 make_##name##3(T x, T y, T z) {                               \
        name##3 v = {x, y, z};                                                             \
        return v;                                                                          \
    }                                                                                      \
    WARPBOOK_MAKE_FN name##4 make_##name##4(T x, T y, T z, T w) {                          \
        name##4 v = {x, y, z, w};                                                          \
        return v;                                                                          \
    }

WARPBOOK_MAKE(signed char, char)
WARPBOOK_MAKE(unsigned char, uchar)
WARPBOOK_MAKE(short, short)
WARPBOOK_MAKE(unsigned short, ushort)
WARPBOOK_MAKE(int, int)
WARPBOOK_MAKE(unsigned int, uint)
WARPBOOK_MAKE(long, long)
WARPBOOK_MAKE(unsigned long, ulong)
WARPBOOK_MAKE(long long, longlong)
WARPBOOK_MAKE(unsigned long long, ulonglong)
WARPBOOK_MAKE(float, float)
WARPBOOK_MAKE(double, double)

#undef WARPBOOK_MAKE
#undef WARPBOOK_MAKE_FN
