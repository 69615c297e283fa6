// Reads and writes of surfaces, given as surface objects or references; x is in bytes.

#pragma once

#if defined(__CUDA__)

#include "surface_types.h"
#include "warpbook/loads.h"

// Removes the parentheses of a list that is passed as one macro argument.
#define WARPBOOK_LIST(...) __VA_ARGS__

// Accesses outside the surface trap, clamp to the nearest element, or yield zero: one instruction per mode.
#define WARPBOOK_BY_MODE(instruction, words, at, places, values, index)                          \
    if (mode == cudaBoundaryModeTrap) instruction("trap", words, at, places, values, index);     \
    else if (mode == cudaBoundaryModeClamp) instruction("clamp", words, at, places, values, index); \
    else instruction("zero", words, at, places, values, index);
#define WARPBOOK_SULD(mode, words, at, places, values, index)                                    \
    asm volatile("suld.b." words "." mode " {" places "}, [%" at "];"                          \
                 : WARPBOOK_LIST values : "l"(surface), WARPBOOK_LIST index : "memory")
#define WARPBOOK_SUST(mode, words, at, places, values, index)                                    \
    asm volatile("sust.b." words "." mode " [%" at "], {" places "};" ::WARPBOOK_LIST values,   \
                 "l"(surface), WARPBOOK_LIST index : "memory")

// Defines the functions for one surface shape and one value size. The values are the first
// operands, followed by the surface and the coordinates, which `at` names.
#define WARPBOOK_SURFACE_SIZE(name, shape, Bytes, size, places, out, in, at, parameters, index)  \
    WARPBOOK_DEVICE_FN void warpbook_##name##read(Bytes &v, cudaSurfaceObject_t surface,        \
                                                  WARPBOOK_LIST parameters,                     \
                                                  cudaSurfaceBoundaryMode mode) {               \
        WARPBOOK_BY_MODE(WARPBOOK_SULD, shape "." size, at, places, out, index)                  \
    }                                                                                           \
    WARPBOOK_DEVICE_FN void warpbook_##name##write(Bytes v, cudaSurfaceObject_t surface,        \
                                                   WARPBOOK_LIST parameters,                    \
                                                   cudaSurfaceBoundaryMode mode) {              \
        WARPBOOK_BY_MODE(WARPBOOK_SUST, shape "." size, at, places, in, index)                   \
    }
#define WARPBOOK_SURFACE(name, shape, parameters, names, index, at1, at2, at4)                   \
    WARPBOOK_SURFACE_SIZE(name, shape, warpbook_byte, "b8", "%0", ("=h"(v.bits)),               \
                          ("h"(v.bits)), at1, parameters, index)                                 \
    WARPBOOK_SURFACE_SIZE(name, shape, unsigned short, "b16", "%0", ("=h"(v)), ("h"(v)), at1,   \
                          parameters, index)                                                     \
    WARPBOOK_SURFACE_SIZE(name, shape, unsigned int, "b32", "%0", ("=r"(v)), ("r"(v)), at1,     \
                          parameters, index)                                                     \
    WARPBOOK_SURFACE_SIZE(name, shape, warpbook_bytes8, "v2.b32", "%0, %1",                     \
                          ("=r"(v.x), "=r"(v.y)), ("r"(v.x), "r"(v.y)), at2, parameters, index)  \
    WARPBOOK_SURFACE_SIZE(name, shape, warpbook_bytes16, "v4.b32", "%0, %1, %2, %3",            \
                          ("=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)),                         \
                          ("r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)), at4, parameters, index)      \
    template <typename T>                                                                       \
    WARPBOOK_DEVICE_FN T name##read(cudaSurfaceObject_t surface, WARPBOOK_LIST parameters,      \
                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
        typename warpbook_surface_bytes<sizeof(T)>::type v;                                     \
        warpbook_##name##read(v, surface, WARPBOOK_LIST names, mode);                           \
        return warpbook_surface_bytes<sizeof(T)>::template to<T>(v);                            \
    }                                                                                           \
    template <typename T>                                                                       \
    WARPBOOK_DEVICE_FN void name##read(T *to, cudaSurfaceObject_t surface,                      \
                                       WARPBOOK_LIST parameters,                                \
                                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {   \
        *to = name##read<T>(surface, WARPBOOK_LIST names, mode);                                \
    }                                                                                           \
    template <typename T>                                                                       \
    WARPBOOK_DEVICE_FN void name##write(T value, cudaSurfaceObject_t surface,                   \
                                        WARPBOOK_LIST parameters,                               \
                                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
        warpbook_##name##write(warpbook_surface_bytes<sizeof(T)>::from(value), surface,         \
                               WARPBOOK_LIST names, mode);                                      \
    }                                                                                           \
    template <typename T, class U, int dim>                                                     \
    WARPBOOK_DEVICE_FN T name##read(const warpbook_surface<U, dim> &reference, WARPBOOK_LIST parameters, \
                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
        return name##read<T>(reference.object, WARPBOOK_LIST names, mode);                      \
    }                                                                                           \
    template <typename T, class U, int dim>                                                     \
    WARPBOOK_DEVICE_FN void name##read(T *to, const warpbook_surface<U, dim> &reference,                 \
                                       WARPBOOK_LIST parameters,                                \
                                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {   \
        *to = name##read<T>(reference.object, WARPBOOK_LIST names, mode);                       \
    }                                                                                           \
    template <typename T, class U, int dim>                                                     \
    WARPBOOK_DEVICE_FN void name##write(T value, const warpbook_surface<U, dim> &reference,              \
                                        WARPBOOK_LIST parameters,                               \
                                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
        name##write(value, reference.object, WARPBOOK_LIST names, mode);                        \
    }

// A byte is passed in a 16-bit register.
struct warpbook_byte { unsigned short bits; };
template <int size> struct warpbook_surface_bytes {
    typedef typename warpbook_bytes<size>::type type;
    template <typename T> static __attribute__((device, always_inline, nodebug)) T to(type v) {
        return warpbook_bytes_as<T>(v);
    }
    template <typename T> static __attribute__((device, always_inline, nodebug)) type from(T v) {
        return warpbook_bytes_as<type>(v);
    }
};
template <> struct warpbook_surface_bytes<1> {
    typedef warpbook_byte type;
    template <typename T> static __attribute__((device, always_inline, nodebug)) T to(type v) {
        return warpbook_bytes_as<T>((unsigned char)v.bits);
    }
    template <typename T> static __attribute__((device, always_inline, nodebug)) type from(T v) {
        return {warpbook_bytes_as<unsigned char>(v)};
    }
};

WARPBOOK_SURFACE(surf1D, "1d", (int x), (x), ("r"(x)), "1, {%2}", "2, {%3}", "4, {%5}")
WARPBOOK_SURFACE(surf2D, "2d", (int x, int y), (x, y), ("r"(x), "r"(y)), "1, {%2, %3}",
                 "2, {%3, %4}", "4, {%5, %6}")
WARPBOOK_SURFACE(surf3D, "3d", (int x, int y, int z), (x, y, z), ("r"(x), "r"(y), "r"(z)),
                 "1, {%2, %3, %4, %4}", "2, {%3, %4, %5, %5}", "4, {%5, %6, %7, %7}")
WARPBOOK_SURFACE(surf1DLayered, "a1d", (int x, int layer), (x, layer), ("r"(layer), "r"(x)),
                 "1, {%2, %3}", "2, {%3, %4}", "4, {%5, %6}")
// A layer is one slice, and so is a face of a cube map: a layer of a layered cube map has six.
#define WARPBOOK_SLICES(name, slice)                                                             \
    WARPBOOK_SURFACE(name, "a2d", (int x, int y, int slice), (x, y, slice),                      \
                     ("r"(slice), "r"(x), "r"(y)), "1, {%2, %3, %4, %4}", "2, {%3, %4, %5, %5}", \
                     "4, {%5, %6, %7, %7}")
WARPBOOK_SLICES(surf2DLayered, layer)
WARPBOOK_SLICES(surfCubemap, face)
WARPBOOK_SLICES(surfCubemapLayered, layerFace)

#undef WARPBOOK_SLICES
#undef WARPBOOK_SURFACE
#undef WARPBOOK_SURFACE_SIZE
#undef WARPBOOK_SUST
#undef WARPBOOK_SULD
#undef WARPBOOK_BY_MODE
#undef WARPBOOK_LIST

#endif
