// Tensor cores through fragments (nvcuda::wmma): half, bfloat16, tf32, 8-bit integers and
// double, for sm_80 and newer GPUs, with 16 or 32 rows.
//
// The shape with 8 rows and 32 columns, 4-bit integers, single bits, and GPUs before sm_80 are not implemented.

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
// Multiplies piece by piece, 16 rows and 8 columns each.
template <int M, int N, int K, typename T, typename A, typename B, typename C>
WARPBOOK_MATRIX_FN void mma_sync(fragment<accumulator, M, N, K, C> &d,
                                 const fragment<matrix_a, M, N, K, T, A> &a,
                                 const fragment<matrix_b, M, N, K, T, B> &b,
                                 const fragment<accumulator, M, N, K, C> &c) {
    static_assert(M % 16 == 0, "of matrices with 16 or 32 rows");
    constexpr int step = warpbook::elements_of<T>::step, parts = K / (4 * step);
    d = c;
    for (int below = 0; below < M / 16; below++) {
        for (int beside = 0; beside < N / 8; beside++) {
            unsigned int rows[2 * parts], columns[parts];
            for (int part = 0; part < parts; part++) {
                for (int half = 0; half < 2; half++)
                    rows[2 * part + half] =
                        warpbook::word(a.x + step * (part * (M / 8) + 2 * below + half));
                columns[part] = warpbook::word(b.x + step * (part * (N / 8) + beside));
            }
            warpbook::product<T, C>::of(d.x + 2 * (beside * (M / 8) + 2 * below), rows, columns);
        }
    }
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
