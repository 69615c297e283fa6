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
    numbers<8, 32, 16, half, float, rows, columns>(from, to + 2048);
    numbers<8, 32, 16, signed char, int, rows, rows>(from, to + 2560);
}

// Loads a and b of 16 x 16 elements as fragments and with `ldmatrix`, and stores the registers of
// both. The second and third register of b are exchanged, as the multiplication needs them.
extern "C" __global__ void matrix_registers(const half *from, unsigned int *to) {
    __shared__ __align__(32) half tile[256];
    for (int n = threadIdx.x; n < 256; n += 32) tile[n] = from[n];
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::load_matrix_sync(a, tile, 16);
    wmma::load_matrix_sync(b, tile, 16);
    unsigned int r[4], address = __cvta_generic_to_shared(tile + threadIdx.x % 16 * 16 + threadIdx.x / 16 * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address));
    unsigned int of_a[8], of_b[8];
    memcpy(of_a, a.x, sizeof of_a);
    memcpy(of_b, b.x, sizeof of_b);
    const int exchanged[4] = {0, 2, 1, 3};
    for (int n = 0; n < 8; n++) {
        unsigned int *pair = to + (threadIdx.x * 8 + n) * 4;
        pair[0] = of_a[n];
        pair[1] = r[n % 4];
        pair[2] = of_b[n];
        pair[3] = r[exchanged[n % 4]];
    }
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
