// A kernel that compiles to instructions that the simulator does not implement.
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void not_simulated(const double *from, double *to) {
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    wmma::fill_fragment(sum, 0.0);
    wmma::load_matrix_sync(a, from, 4);
    wmma::load_matrix_sync(b, from + 32, 4);
    wmma::mma_sync(sum, a, b, sum);
    wmma::store_matrix_sync(to, sum, 8, wmma::mem_row_major);
}
