// Tensor cores through fragments (nvcuda::wmma): half, bfloat16, tf32, 8-bit integers and
// double, for sm_80 and newer GPUs.
//
// 4-bit integers, single bits, and GPUs before sm_80 are not implemented.

#pragma once

#if defined(__CUDA__)

#include "warpbook/matrices/fragment.h"

namespace nvcuda {
namespace wmma {
namespace warpbook {

template <typename T> WARPBOOK_MATRIX_FN unsigned int word(const T *elements) {
    unsigned int bits;
    __builtin_memcpy(&bits, elements, 4);
    return bits;
}

// 32-bit registers in the instructions' order: four of a, two of b (half as many for 8-bit
// elements), four of the sum.
#define WARPBOOK_PIECE(name, C, constraint, instruction)                                        \
    WARPBOOK_MATRIX_FN void name(C *d, const unsigned int *a, const unsigned int *b) {          \
        asm("mma.sync.aligned." instruction                                                     \
            " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                  \
            : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]),                 \
              "+" constraint(d[3])                                                              \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                \
    }
#define WARPBOOK_PIECE_OF_BYTES(name, instruction)                                              \
    WARPBOOK_MATRIX_FN void name(int *d, const unsigned int *a, const unsigned int *b) {        \
        asm("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                    \
            : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                                 \
    }
#if WARPBOOK_HAS_SM(800)
WARPBOOK_PIECE(multiply_f16, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
WARPBOOK_PIECE(multiply_bf16, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
WARPBOOK_PIECE(multiply_tf32, float, "f", "m16n8k8.row.col.f32.tf32.tf32.f32")
WARPBOOK_PIECE_OF_BYTES(multiply_s8, "m16n8k16.row.col.s32.s8.s8.s32")
WARPBOOK_PIECE_OF_BYTES(multiply_u8, "m16n8k16.row.col.s32.u8.u8.s32")
WARPBOOK_MATRIX_FN void multiply_half(__half *d, const unsigned int *a, const unsigned int *b) {
    unsigned int low = word(d), high = word(d + 2);
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
        "{%0, %1};"
        : "+r"(low), "+r"(high)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    __builtin_memcpy(d, &low, 4);
    __builtin_memcpy(d + 2, &high, 4);
}

// Selects the instruction that multiplies elements of these types.
template <typename T, typename C> struct product;
#define WARPBOOK_PRODUCT(T, C, name)                                                            \
    template <> struct product<T, C> {                                                          \
        static __attribute__((device, always_inline, nodebug)) void                             \
        of(C *d, const unsigned int *a, const unsigned int *b) {                                \
            name(d, a, b);                                                                      \
        }                                                                                       \
    };
WARPBOOK_PRODUCT(__half, float, multiply_f16)
WARPBOOK_PRODUCT(__half, __half, multiply_half)
WARPBOOK_PRODUCT(__nv_bfloat16, float, multiply_bf16)
WARPBOOK_PRODUCT(precision::tf32, float, multiply_tf32)
WARPBOOK_PRODUCT(signed char, int, multiply_s8)
WARPBOOK_PRODUCT(unsigned char, int, multiply_u8)
#undef WARPBOOK_PRODUCT
#endif
#undef WARPBOOK_PIECE
#undef WARPBOOK_PIECE_OF_BYTES

} // namespace warpbook

#if WARPBOOK_HAS_SM(800)
namespace warpbook {
// Multiplies `rows` in tiles of 16 by `columns` in tiles of 8.
template <typename T, int rows, int columns, int K, typename C>
WARPBOOK_MATRIX_FN void multiply_tiles(C *d, const typename stored<T>::type *a, const typename stored<T>::type *b) {
    constexpr int step = elements_of<T>::step, parts = K / (4 * step);
    for (int tile_row = 0; tile_row < rows / 16; tile_row++) {
        for (int tile_column = 0; tile_column < columns / 8; tile_column++) {
            unsigned int of_a[2 * parts], of_b[parts];
            for (int n = 0; n < 2 * parts; n++)
                of_a[n] = word(a + step * (2 * parts * tile_row + n));
            for (int n = 0; n < parts; n++)
                of_b[n] = word(b + step * (parts * tile_column + n));
            product<T, C>::of(d + 2 * (tile_column * (rows / 8) + 2 * tile_row), of_a, of_b);
        }
    }
}
} // namespace warpbook

template <int M, int N, int K, typename T, typename A, typename B, typename C>
WARPBOOK_MATRIX_FN void mma_sync(fragment<accumulator, M, N, K, C> &d,
                                 const fragment<matrix_a, M, N, K, T, A> &a,
                                 const fragment<matrix_b, M, N, K, T, B> &b,
                                 const fragment<accumulator, M, N, K, C> &c) {
    d = c;
    if (warpbook::tiles<M, N>::transposed)
        warpbook::multiply_tiles<T, N, M, K>(d.x, b.x, a.x);
    else
        warpbook::multiply_tiles<T, M, N, K>(d.x, a.x, b.x);
}

WARPBOOK_MATRIX_FN void mma_sync(fragment<accumulator, 8, 8, 4, double> &d,
                                 const fragment<matrix_a, 8, 8, 4, double, row_major> &a,
                                 const fragment<matrix_b, 8, 8, 4, double, col_major> &b,
                                 const fragment<accumulator, 8, 8, 4, double> &c) {
    d = c;
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d.x[0]), "+d"(d.x[1])
        : "d"(a.x[0]), "d"(b.x[0]));
}
#endif

} // namespace wmma
} // namespace nvcuda

#endif
