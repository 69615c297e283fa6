// Loads and stores with an explicit cache operator.

#pragma once

#include "device_fn.h"

// Values are loaded and stored as 1, 2, 4, 8 or 16 bytes.
struct warpbook_bytes8 { unsigned int x, y; };
struct warpbook_bytes16 { unsigned int x, y, z, w; };

// Reinterprets the bytes of a value as another type. (A union, because __builtin_bit_cast
// does not take a vector type with its own assignment operator.)
template <typename To, typename From> union warpbook_same_bytes {
    From from;
    To to;
};
template <typename To, typename From> WARPBOOK_DEVICE_FN To warpbook_bytes_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "of one size");
    warpbook_same_bytes<To, From> bytes = {from};
    return bytes.to;
}

template <int size> struct warpbook_bytes;
template <> struct warpbook_bytes<1> { typedef unsigned char type; };
template <> struct warpbook_bytes<2> { typedef unsigned short type; };
template <> struct warpbook_bytes<4> { typedef unsigned int type; };
template <> struct warpbook_bytes<8> { typedef warpbook_bytes8 type; };
template <> struct warpbook_bytes<16> { typedef warpbook_bytes16 type; };

// Defines a load or store of this kind for 1 to 16 bytes.
#define WARPBOOK_LOAD_BYTES(name, kind)                                                         \
    WARPBOOK_DEVICE_FN void name##_bytes(unsigned char &to, const void *p) {                    \
        unsigned int word;                                                                      \
        asm volatile("ld.global." kind ".u8 %0, [%1];" : "=r"(word) : "l"(WARPBOOK_GLOBAL(p))   \
                     : "memory");                                                               \
        to = (unsigned char)word;                                                               \
    }                                                                                           \
    WARPBOOK_DEVICE_FN void name##_bytes(unsigned short &to, const void *p) {                   \
        asm volatile("ld.global." kind ".u16 %0, [%1];" : "=h"(to) : "l"(WARPBOOK_GLOBAL(p))    \
                     : "memory");                                                               \
    }                                                                                           \
    WARPBOOK_DEVICE_FN void name##_bytes(unsigned int &to, const void *p) {                     \
        asm volatile("ld.global." kind ".u32 %0, [%1];" : "=r"(to) : "l"(WARPBOOK_GLOBAL(p))    \
                     : "memory");                                                               \
    }                                                                                           \
    WARPBOOK_DEVICE_FN void name##_bytes(warpbook_bytes8 &to, const void *p) {                  \
        asm volatile("ld.global." kind ".v2.u32 {%0, %1}, [%2];"                                \
                     : "=r"(to.x), "=r"(to.y) : "l"(WARPBOOK_GLOBAL(p)) : "memory");            \
    }                                                                                           \
    WARPBOOK_DEVICE_FN void name##_bytes(warpbook_bytes16 &to, const void *p) {                 \
        asm volatile("ld.global." kind ".v4.u32 {%0, %1, %2, %3}, [%4];"                        \
                     : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)                           \
                     : "l"(WARPBOOK_GLOBAL(p)) : "memory");                                     \
    }
#define WARPBOOK_STORE_BYTES(name, kind)                                                        \
    WARPBOOK_DEVICE_FN void name##_bytes(void *p, unsigned char from) {                         \
        asm volatile("st.global." kind ".u8 [%0], %1;" ::"l"(WARPBOOK_GLOBAL(p)),               \
                     "r"((unsigned int)from) : "memory");                                       \
    }                                                                                           \
    WARPBOOK_DEVICE_FN void name##_bytes(void *p, unsigned short from) {                        \
        asm volatile("st.global." kind ".u16 [%0], %1;" ::"l"(WARPBOOK_GLOBAL(p)), "h"(from)    \
                     : "memory");                                                               \
    }                                                                                           \
    WARPBOOK_DEVICE_FN void name##_bytes(void *p, unsigned int from) {                          \
        asm volatile("st.global." kind ".u32 [%0], %1;" ::"l"(WARPBOOK_GLOBAL(p)), "r"(from)    \
                     : "memory");                                                               \
    }                                                                                           \
    WARPBOOK_DEVICE_FN void name##_bytes(void *p, warpbook_bytes8 from) {                       \
        asm volatile("st.global." kind ".v2.u32 [%0], {%1, %2};" ::"l"(WARPBOOK_GLOBAL(p)),     \
                     "r"(from.x), "r"(from.y) : "memory");                                      \
    }                                                                                           \
    WARPBOOK_DEVICE_FN void name##_bytes(void *p, warpbook_bytes16 from) {                      \
        asm volatile("st.global." kind ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(                 \
                         WARPBOOK_GLOBAL(p)),                                                   \
                     "r"(from.x), "r"(from.y), "r"(from.z), "r"(from.w) : "memory");            \
    }

// One template per function: CUDA's overloads for every type would take longer to compile
// than most kernels do. The type of a stored value is deduced from the pointer.
template <typename T> struct warpbook_same { typedef T type; };
#define WARPBOOK_LOADS(name, kind)                                  \
    WARPBOOK_LOAD_BYTES(name, kind)                                 \
    template <typename T> WARPBOOK_DEVICE_FN T name(const T *p) {   \
        typename warpbook_bytes<sizeof(T)>::type bytes;             \
        name##_bytes(bytes, p);                                     \
        return warpbook_bytes_as<T>(bytes);                         \
    }
#define WARPBOOK_STORES(name, kind)                                                             \
    WARPBOOK_STORE_BYTES(name, kind)                                                            \
    template <typename T>                                                                       \
    WARPBOOK_DEVICE_FN void name(T *p, typename warpbook_same<T>::type value) {                 \
        name##_bytes(p, warpbook_bytes_as<typename warpbook_bytes<sizeof(T)>::type>(value));    \
    }
WARPBOOK_LOADS(__ldca, "ca")
WARPBOOK_LOADS(__ldcg, "cg")
WARPBOOK_LOADS(__ldcs, "cs")
WARPBOOK_LOADS(__ldlu, "lu")
WARPBOOK_LOADS(__ldcv, "cv")
WARPBOOK_STORES(__stwb, "wb")
WARPBOOK_STORES(__stcg, "cg")
WARPBOOK_STORES(__stcs, "cs")
WARPBOOK_STORES(__stwt, "wt")
#undef WARPBOOK_LOADS
#undef WARPBOOK_STORES
#undef WARPBOOK_LOAD_BYTES
#undef WARPBOOK_STORE_BYTES
