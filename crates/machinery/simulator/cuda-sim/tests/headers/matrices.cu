// Small matrix multiplications on tensor cores, d = a * b + c, one warp each.
#include <mma.h>

using namespace nvcuda;

template <int M, int N, int K, typename T, typename C, typename A, typename B>
__device__ void multiply(const T *a, const T *b, const C *c, C *d) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, A> rows;
    wmma::fragment<wmma::matrix_b, M, N, K, T, B> columns;
    wmma::fragment<wmma::accumulator, M, N, K, C> sum, before;
    wmma::load_matrix_sync(rows, a, __is_same(A, wmma::row_major) ? K : M);
    wmma::load_matrix_sync(columns, b, __is_same(B, wmma::row_major) ? N : K);
    wmma::load_matrix_sync(before, c, N, wmma::mem_row_major);
    wmma::fill_fragment(sum, 0.0f);
    wmma::mma_sync(sum, rows, columns, before);
    wmma::store_matrix_sync(d, sum, N, wmma::mem_row_major);
}

// Loads small integers from `from`, 512 each for a, b and c; stores 512 results per multiplication in `to`.
template <int M, int N, int K, typename T, typename C, typename A, typename B>
__device__ void numbers(const int *from, int *to) {
    __shared__ T a[512], b[512];
    __shared__ C c[512], d[512];
    __syncwarp();
    for (int n = threadIdx.x; n < 512; n += 32) {
        a[n] = (T)(float)from[n];
        b[n] = (T)(float)from[512 + n];
        c[n] = (C)(float)from[1024 + n];
        d[n] = (C)0.0f;
    }
    __syncwarp();
    multiply<M, N, K, T, C, A, B>(a, b, c, d);
    __syncwarp();
    for (int n = threadIdx.x; n < 512; n += 32) to[n] = (int)(float)d[n];
}

extern "C" __global__ void matrices(const int *from, int *to) {
    typedef wmma::row_major rows;
    typedef wmma::col_major columns;
    numbers<16, 16, 16, half, float, rows, rows>(from, to);
    numbers<16, 16, 16, half, half, columns, columns>(from, to + 512);
    numbers<32, 8, 16, __nv_bfloat16, float, rows, columns>(from, to + 1024);
    numbers<16, 16, 16, signed char, int, columns, rows>(from, to + 1536);
}

// Rounds its inputs first, because tf32 fragments take floats that are already rounded.
extern "C" __global__ void matrices_of_tf32(const float *a, const float *b, float *d) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> rows;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> columns;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(rows, a, 8);
    wmma::load_matrix_sync(columns, b, 16);
    for (int n = 0; n < rows.num_elements; n++) rows.x[n] = wmma::__float_to_tf32(rows.x[n]);
    for (int n = 0; n < columns.num_elements; n++) columns.x[n] = wmma::__float_to_tf32(columns.x[n]);
    wmma::mma_sync(sum, rows, columns, sum);
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}
