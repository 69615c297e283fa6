// Fragments: the part of a matrix that one lane holds, and the mapping of its elements.
//
// CUDA leaves the mapping of elements to lanes unspecified, but programs load and store fragments
// with `ldmatrix` and `stmatrix`. Here it is the mapping of an H200 (driver 580.159.04, nvcc 13.0,
// 2026-11-29), which follows from that of `mma`: with g = lane / 4 and t = lane % 4, each register
// of a lane contains neighbouring elements of row g or g + 8.

#pragma once

#include "../../cuda_bf16.h"
#include "../../cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
// A float of which the tensor cores use 10 bits of the fraction.
struct tf32 {};
} // namespace precision

#define WARPBOOK_MATRIX_FN static inline __attribute__((device, always_inline, nodebug, unused))

namespace warpbook {

// The type in which an element is stored.
template <typename T> struct stored { typedef T type; };
template <> struct stored<precision::tf32> { typedef float type; };

WARPBOOK_MATRIX_FN int lane() {
    int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

// Registers that contain `step` neighbouring elements each.
template <typename T> struct elements_of { static constexpr int step = 4 / sizeof(typename stored<T>::type); };
template <> struct elements_of<double> { static constexpr int step = 1; };

// `mma` multiplies a tile of 16 rows by one of 8 columns; double has tiles of 8 rows. Matrices of
// 8 rows and 32 columns are multiplied as their transposes.
template <int M, int N> struct tiles {
    static constexpr bool transposed = M == 8 && N == 32;
    static constexpr int of_a = M == 8 ? 8 : 16, of_b = transposed ? 16 : 8;
};

// Position of an element. In a multiplicand, `inner` is the index along the sum, `outer` the row of
// a or the column of b.
struct place {
    int outer, inner;
};

// Returns the position of this lane's element `n` in a multiplicand of K elements along the sum. A
// fragment of __half always has 16 elements; if it needs fewer, it repeats them.
template <typename T, int K, int outer, int tile> WARPBOOK_MATRIX_FN place place_in_multiplicand(int n) {
    constexpr int step = elements_of<T>::step, halves = tile / 8, parts = K / (4 * step);
    const int g = lane() / 4, t = lane() % 4;
    const int within = n % step, block = n % (outer * K / 32) / step;
    const int part = block / halves % parts;
    return {g + 8 * (block % halves) + tile * (block / halves / parts), step * (t + 4 * part) + within};
}

} // namespace warpbook

// `Use` selects one of the three matrices of an M x N x K multiplication.
template <typename Use, int M, int N, int K, typename T, typename Layout = void> struct fragment;

// Fragments of a multiplicand: 32 lanes share outer x K elements, which those of __half repeat.
#define WARPBOOK_MULTIPLICAND(Use, outer)                                                       \
    template <int M, int N, int K, typename T, typename Layout>                                 \
    struct fragment<Use, M, N, K, T, Layout> {                                                  \
        typedef T element_type;                                                                 \
        typedef typename warpbook::stored<T>::type storage_element_type;                        \
        static constexpr int num_elements = __is_same(T, __half) ? 16 : outer * K / 32;         \
        static constexpr int num_storage_elements = num_elements;                               \
        storage_element_type x[num_elements];                                                   \
    };
WARPBOOK_MULTIPLICAND(matrix_a, M)
WARPBOOK_MULTIPLICAND(matrix_b, N)
#undef WARPBOOK_MULTIPLICAND

template <int M, int N, int K, typename T> struct fragment<accumulator, M, N, K, T, void> {
    typedef T element_type;
    typedef T storage_element_type;
    static constexpr int num_elements = M * N / 32;
    static constexpr int num_storage_elements = num_elements;
    T x[num_elements];
};

template <typename Fragment, typename T>
WARPBOOK_MATRIX_FN void fill_fragment(Fragment &fragment, const T &value) {
    for (int n = 0; n < fragment.num_elements; n++)
        fragment.x[n] = (typename Fragment::storage_element_type)value;
}

// Rounds as the tensor cores expect: to nearest, ties away from zero.
WARPBOOK_MATRIX_FN float __float_to_tf32(float x) {
    unsigned int bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __builtin_bit_cast(float, bits);
}

namespace warpbook {

// Returns the position of accumulator element `n`.
template <int M, int N, typename T> WARPBOOK_MATRIX_FN place place_in_accumulator(int n) {
    constexpr bool transposed = tiles<M, N>::transposed;
    constexpr int halves = (transposed ? N : M) / 8;
    const int g = lane() / 4, t = lane() % 4;
    const int outer = g + 8 * (n / 2 % halves), inner = 2 * t + n % 2 + 8 * (n / 2 / halves);
    return transposed ? place{inner, outer} : place{outer, inner};
}

} // namespace warpbook

template <int M, int N, int K, typename T, typename Layout, typename P>
WARPBOOK_MATRIX_FN void load_matrix_sync(fragment<matrix_a, M, N, K, T, Layout> &to, const P *from,
                                         unsigned int stride) {
    for (int n = 0; n < to.num_elements; n++) {
        const warpbook::place at = warpbook::place_in_multiplicand<T, K, M, warpbook::tiles<M, N>::of_a>(n);
        const bool rows = __is_same(Layout, row_major);
        to.x[n] = from[rows ? at.outer * stride + at.inner : at.inner * stride + at.outer];
    }
}
template <int M, int N, int K, typename T, typename Layout, typename P>
WARPBOOK_MATRIX_FN void load_matrix_sync(fragment<matrix_b, M, N, K, T, Layout> &to, const P *from,
                                         unsigned int stride) {
    for (int n = 0; n < to.num_elements; n++) {
        const warpbook::place at = warpbook::place_in_multiplicand<T, K, N, warpbook::tiles<M, N>::of_b>(n);
        const bool rows = __is_same(Layout, row_major);
        to.x[n] = from[rows ? at.inner * stride + at.outer : at.outer * stride + at.inner];
    }
}
template <int M, int N, int K, typename T, typename P>
WARPBOOK_MATRIX_FN void load_matrix_sync(fragment<accumulator, M, N, K, T> &to, const P *from,
                                         unsigned int stride, layout_t layout) {
    for (int n = 0; n < to.num_elements; n++) {
        const warpbook::place at = warpbook::place_in_accumulator<M, N, T>(n);
        to.x[n] = from[layout == mem_row_major ? at.outer * stride + at.inner
                                               : at.inner * stride + at.outer];
    }
}
template <int M, int N, int K, typename T, typename P>
WARPBOOK_MATRIX_FN void store_matrix_sync(P *to, const fragment<accumulator, M, N, K, T> &from,
                                          unsigned int stride, layout_t layout) {
    for (int n = 0; n < from.num_elements; n++) {
        const warpbook::place at = warpbook::place_in_accumulator<M, N, T>(n);
        to[layout == mem_row_major ? at.outer * stride + at.inner
                                   : at.inner * stride + at.outer] = from.x[n];
    }
}

} // namespace wmma
} // namespace nvcuda
