// Fragments: the part of a matrix that one lane holds, and the mapping of its elements.
//
// CUDA leaves the mapping of elements to lanes unspecified. Here it is that of the
// instruction `mma`: with g = lane / 4 and t = lane % 4, each register of a lane has
// neighbouring elements of row g or g + 8.

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

// Position of this lane's element `n`. In the two factors, `inner` is the index along the
// sum, `outer` the row of a or the column of b. `step` neighbours share a register.
struct place {
    int outer, inner;
};
WARPBOOK_MATRIX_FN place place_in_factor(int n, int step, int outer_blocks) {
    const int g = lane() / 4, t = lane() % 4;
    const int within = n % step, block = n / step;
    return {g + 8 * (block % outer_blocks), step * (t + 4 * (block / outer_blocks)) + within};
}

} // namespace warpbook

// `Use` selects one of the three matrices of an M x N x K multiplication.
template <typename Use, int M, int N, int K, typename T, typename Layout = void> struct fragment;

// Fragments of a factor: 32 lanes share outer x K elements.
#define WARPBOOK_FACTOR(Use, outer)                                                             \
    template <int M, int N, int K, typename T, typename Layout>                                 \
    struct fragment<Use, M, N, K, T, Layout> {                                                  \
        typedef T element_type;                                                                 \
        typedef typename warpbook::stored<T>::type storage_element_type;                        \
        static constexpr int num_elements = outer * K / 32;                                     \
        static constexpr int num_storage_elements = num_elements;                               \
        storage_element_type x[num_elements];                                                   \
    };
WARPBOOK_FACTOR(matrix_a, M)
WARPBOOK_FACTOR(matrix_b, N)
#undef WARPBOOK_FACTOR

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

// Registers that hold `step` neighbouring elements each.
template <typename T> struct elements_of { static constexpr int step = 4 / sizeof(typename stored<T>::type); };
template <> struct elements_of<double> { static constexpr int step = 1; };

// Returns the position of accumulator element `n`: a matrix consists of pieces of 16 x 8, or 8 x 8 for double.
template <int M, int N, typename T> WARPBOOK_MATRIX_FN place place_in_sum(int n) {
    const int g = lane() / 4, t = lane() % 4;
    const int column = 2 * t + n % 2, below = n / 2 % (M / 8), beside = n / 2 / (M / 8);
    return {g + 8 * below, column + 8 * beside};
}

} // namespace warpbook

template <int M, int N, int K, typename T, typename Layout, typename P>
WARPBOOK_MATRIX_FN void load_matrix_sync(fragment<matrix_a, M, N, K, T, Layout> &to, const P *from,
                                         unsigned int stride) {
    for (int n = 0; n < to.num_elements; n++) {
        const warpbook::place at =
            warpbook::place_in_factor(n, warpbook::elements_of<T>::step, M / 8);
        const bool rows = __is_same(Layout, row_major);
        to.x[n] = from[rows ? at.outer * stride + at.inner : at.inner * stride + at.outer];
    }
}
template <int M, int N, int K, typename T, typename Layout, typename P>
WARPBOOK_MATRIX_FN void load_matrix_sync(fragment<matrix_b, M, N, K, T, Layout> &to, const P *from,
                                         unsigned int stride) {
    for (int n = 0; n < to.num_elements; n++) {
        const warpbook::place at =
            warpbook::place_in_factor(n, warpbook::elements_of<T>::step, N / 8);
        const bool rows = __is_same(Layout, row_major);
        to.x[n] = from[rows ? at.inner * stride + at.outer : at.outer * stride + at.inner];
    }
}
template <int M, int N, int K, typename T, typename P>
WARPBOOK_MATRIX_FN void load_matrix_sync(fragment<accumulator, M, N, K, T> &to, const P *from,
                                         unsigned int stride, layout_t layout) {
    for (int n = 0; n < to.num_elements; n++) {
        const warpbook::place at = warpbook::place_in_sum<M, N, T>(n);
        to.x[n] = from[layout == mem_row_major ? at.outer * stride + at.inner
                                               : at.inner * stride + at.outer];
    }
}
template <int M, int N, int K, typename T, typename P>
WARPBOOK_MATRIX_FN void store_matrix_sync(P *to, const fragment<accumulator, M, N, K, T> &from,
                                          unsigned int stride, layout_t layout) {
    for (int n = 0; n < from.num_elements; n++) {
        const warpbook::place at = warpbook::place_in_sum<M, N, T>(n);
        to[layout == mem_row_major ? at.outer * stride + at.inner
                                   : at.inner * stride + at.outer] = from.x[n];
    }
}

} // namespace wmma
} // namespace nvcuda
