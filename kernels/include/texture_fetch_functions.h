// Texture reads, given as texture objects or references: tex1D, tex2D, tex3D, tex1Dfetch, layered
// and cube map textures, with a level of detail.

#pragma once

#if defined(__CUDA__)

#include "driver_types.h"
#include "texture_types.h"
#include "vector_types.h"
#include "warpbook/device_fn.h"

// The type in which an element is fetched: four floats, signed words or unsigned words.
template <typename T> struct warpbook_texel;
#define WARPBOOK_TEXEL(T, Word, ...)                                                        \
    template <> struct warpbook_texel<T> {                                                  \
        typedef Word word;                                                                  \
        static __attribute__((device, always_inline, nodebug)) T of(const Word *v)          \
            __VA_ARGS__                                                                     \
    };
#define WARPBOOK_TEXELS(name, E, Word)                                                      \
    WARPBOOK_TEXEL(name##1, Word, { return {(E)v[0]}; })                                    \
    WARPBOOK_TEXEL(name##2, Word, { return {(E)v[0], (E)v[1]}; })                           \
    WARPBOOK_TEXEL(name##4, Word, { return {(E)v[0], (E)v[1], (E)v[2], (E)v[3]}; })
WARPBOOK_TEXELS(char, signed char, int)
WARPBOOK_TEXELS(uchar, unsigned char, unsigned int)
WARPBOOK_TEXELS(short, short, int)
WARPBOOK_TEXELS(ushort, unsigned short, unsigned int)
WARPBOOK_TEXELS(int, int, int)
WARPBOOK_TEXELS(uint, unsigned int, unsigned int)
WARPBOOK_TEXELS(float, float, float)
#define WARPBOOK_TEXEL1(T, Word) WARPBOOK_TEXEL(T, Word, { return (T)v[0]; })
WARPBOOK_TEXEL1(char, int)
WARPBOOK_TEXEL1(signed char, int)
WARPBOOK_TEXEL1(unsigned char, unsigned int)
WARPBOOK_TEXEL1(short, int)
WARPBOOK_TEXEL1(unsigned short, unsigned int)
WARPBOOK_TEXEL1(int, int)
WARPBOOK_TEXEL1(unsigned int, unsigned int)
WARPBOOK_TEXEL1(float, float)
#undef WARPBOOK_TEXEL1
#undef WARPBOOK_TEXELS
#undef WARPBOOK_TEXEL

// Removes the parentheses of a list that is passed as one macro argument.
#define WARPBOOK_LIST(...) __VA_ARGS__

// Defines a fetch function: its name, its parameters and their names, the parts of the
// instruction before and after the type, the coordinates, and their operands.
#define WARPBOOK_FETCH_AS(name, Word, constraint, type, parameters, before, after, at, from) \
    WARPBOOK_DEVICE_FN void warpbook_##name(Word *v, cudaTextureObject_t texture,            \
                                            WARPBOOK_LIST parameters) {                      \
        asm(before ".v4." type after " {%0, %1, %2, %3}, [%4, " at ";"                       \
            : constraint(v[0]), constraint(v[1]), constraint(v[2]), constraint(v[3])         \
            : "l"(texture), WARPBOOK_LIST from);                                             \
    }
#define WARPBOOK_FETCH(name, parameters, names, before, after, at, from)                     \
    WARPBOOK_FETCH_AS(name, float, "=f", "f32", parameters, before, after, at, from)         \
    WARPBOOK_FETCH_AS(name, int, "=r", "s32", parameters, before, after, at, from)           \
    WARPBOOK_FETCH_AS(name, unsigned int, "=r", "u32", parameters, before, after, at, from)  \
    template <typename T>                                                                    \
    WARPBOOK_DEVICE_FN T name(cudaTextureObject_t texture, WARPBOOK_LIST parameters) {       \
        typename warpbook_texel<T>::word v[4];                                               \
        warpbook_##name(v, texture, WARPBOOK_LIST names);                                    \
        return warpbook_texel<T>::of(v);                                                     \
    }                                                                                        \
    template <typename T>                                                                    \
    WARPBOOK_DEVICE_FN void name(T *to, cudaTextureObject_t texture,                         \
                                 WARPBOOK_LIST parameters) {                                 \
        *to = name<T>(texture, WARPBOOK_LIST names);                                         \
    }                                                                                        \
    template <class T, int dim, cudaTextureReadMode mode>                                    \
    WARPBOOK_DEVICE_FN typename warpbook_texture<T, dim, mode>::fetched                               \
    name(const warpbook_texture<T, dim, mode> &reference, WARPBOOK_LIST parameters) {                 \
        return name<typename warpbook_texture<T, dim, mode>::fetched>(reference.object,               \
                                                             WARPBOOK_LIST names);           \
    }

WARPBOOK_FETCH(tex1Dfetch, (int x), (x), "tex.1d", ".s32", "{%5}]", ("r"(x)))
WARPBOOK_FETCH(tex1D, (float x), (x), "tex.1d", ".f32", "{%5}]", ("f"(x)))
WARPBOOK_FETCH(tex2D, (float x, float y), (x, y), "tex.2d", ".f32", "{%5, %6}]",
               ("f"(x), "f"(y)))
WARPBOOK_FETCH(tex3D, (float x, float y, float z), (x, y, z), "tex.3d", ".f32",
               "{%5, %6, %7, %7}]", ("f"(x), "f"(y), "f"(z)))
WARPBOOK_FETCH(texCubemap, (float x, float y, float z), (x, y, z), "tex.cube", ".f32",
               "{%5, %6, %7, %7}]", ("f"(x), "f"(y), "f"(z)))
WARPBOOK_FETCH(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer),
               "tex.acube", ".f32", "{%5, %6, %7, %8}]", ("r"(layer), "f"(x), "f"(y), "f"(z)))
WARPBOOK_FETCH(tex1DLayered, (float x, int layer), (x, layer), "tex.a1d", ".f32", "{%5, %6}]",
               ("r"(layer), "f"(x)))
WARPBOOK_FETCH(tex2DLayered, (float x, float y, int layer), (x, y, layer), "tex.a2d", ".f32",
               "{%5, %6, %7, %7}]", ("r"(layer), "f"(x), "f"(y)))
WARPBOOK_FETCH(tex1DLod, (float x, float level), (x, level), "tex.level.1d", ".f32",
               "{%5}], %6", ("f"(x), "f"(level)))
WARPBOOK_FETCH(tex2DLod, (float x, float y, float level), (x, y, level), "tex.level.2d", ".f32",
               "{%5, %6}], %7", ("f"(x), "f"(y), "f"(level)))
WARPBOOK_FETCH(tex3DLod, (float x, float y, float z, float level), (x, y, z, level),
               "tex.level.3d", ".f32", "{%5, %6, %7, %7}], %8",
               ("f"(x), "f"(y), "f"(z), "f"(level)))
WARPBOOK_FETCH(texCubemapLod, (float x, float y, float z, float level), (x, y, z, level),
               "tex.level.cube", ".f32", "{%5, %6, %7, %7}], %8",
               ("f"(x), "f"(y), "f"(z), "f"(level)))
WARPBOOK_FETCH(texCubemapLayeredLod, (float x, float y, float z, int layer, float level),
               (x, y, z, layer, level), "tex.level.acube", ".f32", "{%5, %6, %7, %8}], %9",
               ("r"(layer), "f"(x), "f"(y), "f"(z), "f"(level)))
WARPBOOK_FETCH(tex1DLayeredLod, (float x, int layer, float level), (x, layer, level),
               "tex.level.a1d", ".f32", "{%5, %6}], %7", ("r"(layer), "f"(x), "f"(level)))
WARPBOOK_FETCH(tex2DLayeredLod, (float x, float y, int layer, float level), (x, y, layer, level),
               "tex.level.a2d", ".f32", "{%5, %6, %7, %7}], %8",
               ("r"(layer), "f"(x), "f"(y), "f"(level)))

#undef WARPBOOK_FETCH
#undef WARPBOOK_FETCH_AS
#undef WARPBOOK_LIST

#endif
