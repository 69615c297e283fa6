// The vector types, `char1` to `double4`, and `dim3`, for host and device, C and C++.

#pragma once
#define __VECTOR_TYPES_H__ // guard that programs test

#include "crt/host_defines.h"

// A struct is copied as a block of memory, and clang copies such blocks in 64-bit words; a
// vector of up to 128 bits is copied by one instruction. So device code assigns structs that
// are aligned to 16 bytes through a vector.
#if defined(__CUDA_ARCH__)
#define WARPBOOK_ASSIGN(T, name, count)                                              \
    __attribute__((host, device, always_inline, nodebug)) name &operator=(           \
        const name &from) {                                                          \
        typedef T vector __attribute__((ext_vector_type(count), aligned(16)));       \
        *(vector *)this = *(const vector *)&from;                                    \
        return *this;                                                                \
    }
#else
#define WARPBOOK_ASSIGN(T, name, count)
#endif
#define WARPBOOK_PLAIN(T, name, count)

#define WARPBOOK_VECTOR(T, name, align2, align4, assign2, assign4)                   \
    typedef struct name##1 { T x; } name##1;                                         \
    typedef struct __align__(align2) name##2 { T x, y; assign2(T, name##2, 2) } name##2; \
    typedef struct name##3 { T x, y, z; } name##3;                                   \
    typedef struct __align__(align4) name##4 { T x, y, z, w; assign4(T, name##4, 4) } name##4;

WARPBOOK_VECTOR(signed char, char, 2, 4, WARPBOOK_PLAIN, WARPBOOK_PLAIN)
WARPBOOK_VECTOR(unsigned char, uchar, 2, 4, WARPBOOK_PLAIN, WARPBOOK_PLAIN)
WARPBOOK_VECTOR(short, short, 4, 8, WARPBOOK_PLAIN, WARPBOOK_PLAIN)
WARPBOOK_VECTOR(unsigned short, ushort, 4, 8, WARPBOOK_PLAIN, WARPBOOK_PLAIN)
WARPBOOK_VECTOR(int, int, 8, 16, WARPBOOK_PLAIN, WARPBOOK_ASSIGN)
WARPBOOK_VECTOR(unsigned int, uint, 8, 16, WARPBOOK_PLAIN, WARPBOOK_ASSIGN)
#if __SIZEOF_LONG__ == 8
WARPBOOK_VECTOR(long, long, 16, 16, WARPBOOK_ASSIGN, WARPBOOK_ASSIGN)
WARPBOOK_VECTOR(unsigned long, ulong, 16, 16, WARPBOOK_ASSIGN, WARPBOOK_ASSIGN)
#else
WARPBOOK_VECTOR(long, long, 8, 16, WARPBOOK_PLAIN, WARPBOOK_ASSIGN)
WARPBOOK_VECTOR(unsigned long, ulong, 8, 16, WARPBOOK_PLAIN, WARPBOOK_ASSIGN)
#endif
WARPBOOK_VECTOR(long long, longlong, 16, 16, WARPBOOK_ASSIGN, WARPBOOK_ASSIGN)
WARPBOOK_VECTOR(unsigned long long, ulonglong, 16, 16, WARPBOOK_ASSIGN, WARPBOOK_ASSIGN)
WARPBOOK_VECTOR(float, float, 8, 16, WARPBOOK_PLAIN, WARPBOOK_ASSIGN)
WARPBOOK_VECTOR(double, double, 16, 16, WARPBOOK_ASSIGN, WARPBOOK_ASSIGN)

#undef WARPBOOK_VECTOR
#undef WARPBOOK_ASSIGN
#undef WARPBOOK_PLAIN

#if defined(__CUDA__)
#define WARPBOOK_DIM3 __attribute__((host, device, nodebug)) constexpr
#elif __cplusplus >= 201103L
#define WARPBOOK_DIM3 constexpr
#else
#define WARPBOOK_DIM3
#endif

typedef struct dim3 {
    unsigned int x, y, z;
#if defined(__cplusplus)
    WARPBOOK_DIM3 dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1)
        : x(x), y(y), z(z) {}
    WARPBOOK_DIM3 dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    WARPBOOK_DIM3 operator uint3() const { return uint3{x, y, z}; }
#endif
} dim3;

#undef WARPBOOK_DIM3
