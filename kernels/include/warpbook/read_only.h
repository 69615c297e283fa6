// `__ldg`: loads through the read-only cache.

#pragma once

#include "device_fn.h"

#define WARPBOOK_LDG(T, suffix) \
    WARPBOOK_DEVICE_FN T __ldg(const T *p) { return __nvvm_ldg_##suffix(p); }
#define WARPBOOK_LDG2(T, E, suffix)                                                    \
    WARPBOOK_DEVICE_FN T __ldg(const T *p) {                                           \
        typedef E vector __attribute__((ext_vector_type(2)));                          \
        vector v = __nvvm_ldg_##suffix##2((const vector *)p);                          \
        return {v[0], v[1]};                                                           \
    }
#define WARPBOOK_LDG4(T, E, suffix)                                                    \
    WARPBOOK_DEVICE_FN T __ldg(const T *p) {                                           \
        typedef E vector __attribute__((ext_vector_type(4)));                          \
        vector v = __nvvm_ldg_##suffix##4((const vector *)p);                          \
        return {v[0], v[1], v[2], v[3]};                                               \
    }
WARPBOOK_LDG(char, c)
WARPBOOK_LDG(unsigned char, uc)
WARPBOOK_LDG(short, s)
WARPBOOK_LDG(unsigned short, us)
WARPBOOK_LDG(int, i)
WARPBOOK_LDG(unsigned int, ui)
WARPBOOK_LDG(long, l)
WARPBOOK_LDG(unsigned long, ul)
WARPBOOK_LDG(long long, ll)
WARPBOOK_LDG(unsigned long long, ull)
WARPBOOK_LDG(float, f)
WARPBOOK_LDG(double, d)
WARPBOOK_LDG2(uchar2, unsigned char, uc)
WARPBOOK_LDG2(short2, short, s)
WARPBOOK_LDG2(ushort2, unsigned short, us)
WARPBOOK_LDG2(int2, int, i)
WARPBOOK_LDG2(uint2, unsigned int, ui)
WARPBOOK_LDG2(longlong2, long long, ll)
WARPBOOK_LDG2(ulonglong2, unsigned long long, ull)
WARPBOOK_LDG2(float2, float, f)
WARPBOOK_LDG2(double2, double, d)
WARPBOOK_LDG4(uchar4, unsigned char, uc)
WARPBOOK_LDG4(short4, short, s)
WARPBOOK_LDG4(ushort4, unsigned short, us)
WARPBOOK_LDG4(int4, int, i)
WARPBOOK_LDG4(uint4, unsigned int, ui)
WARPBOOK_LDG4(float4, float, f)
#undef WARPBOOK_LDG
#undef WARPBOOK_LDG2
#undef WARPBOOK_LDG4

WARPBOOK_DEVICE_FN signed char __ldg(const signed char *p) {
    return (signed char)__nvvm_ldg_uc((const unsigned char *)p);
}
WARPBOOK_DEVICE_FN char2 __ldg(const char2 *p) {
    uchar2 v = __ldg((const uchar2 *)p);
    return {(signed char)v.x, (signed char)v.y};
}
WARPBOOK_DEVICE_FN char4 __ldg(const char4 *p) {
    uchar4 v = __ldg((const uchar4 *)p);
    return {(signed char)v.x, (signed char)v.y, (signed char)v.z, (signed char)v.w};
}
