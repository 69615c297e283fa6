// Uses every function of kernels/async_copy.h and kernels/tensor_core.h, so that a test can
// check that each compiles, with clang and with nvcc, and to which instruction.

#include "async_copy.h"
#include "tensor_core.h"

extern "C" __global__ void copies(const float *in, float *out, int zeros) {
    __shared__ __align__(16) float tile[4 * 32];
    int i = threadIdx.x;
    __pipeline_memcpy_async(&tile[i], &in[i], 4);
    __pipeline_memcpy_async(&tile[2 * i], &in[2 * i], 8);
    __pipeline_commit();
    __pipeline_memcpy_async(&tile[4 * i], &in[4 * i], 16, zeros);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = tile[i ^ 1];
}

extern "C" __global__ void products(const float *in, float *out) {
    __shared__ __align__(16) float tile[4 * 32];
    int i = threadIdx.x;
    tile[i] = in[i];
    __syncthreads();
    unsigned int a[4], b[2], rounded[2];
    ldmatrix_x4(a, &tile[4 * i]);
    ldmatrix_x2(b, &tile[4 * (i % 16)]);
    rounded[0] = cvt_rna_tf32(__uint_as_float(b[0]));
    rounded[1] = cvt_rna_tf32(__uint_as_float(b[1]));
    float d[4] = {1, 2, 3, 4};
    mma_m16n8k8_tf32(d, a, rounded);
    for (int j = 0; j < 4; j++) out[4 * i + j] = d[j];
}
