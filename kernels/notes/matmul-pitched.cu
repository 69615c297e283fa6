// Code 4.3 of the note "Chapter 4 - 内存": matrix multiplication in pitched memory, whose rows are padded.
//
// All sizes are multiples of the block's 16 x 16 threads.

#include <cstdint>

#include "check.h"
#include "common/cuda_call.h"
#include "product.h"

struct Matrix {
    size_t rows;
    size_t cols;
    float *elements;
    size_t stride; // from one row to the next, in elements
};

__device__ float get_element(const Matrix A, size_t row, size_t col)
{
    return A.elements[row * A.stride + col];
}

__device__ void set_element(Matrix A, size_t row, size_t col, float value)
{
    A.elements[row * A.stride + col] = value;
}

// One thread per element of C.
__global__ void mat_mul_kernel(const Matrix A, const Matrix B, Matrix C)
{
    size_t col = blockIdx.x * blockDim.x + threadIdx.x;
    size_t row = blockIdx.y * blockDim.y + threadIdx.y;

    float result = 0;
    for (size_t i = 0; i < A.cols; i++)
        result += get_element(A, row, i) * get_element(B, i, col);
    set_element(C, row, col, result);
}

const size_t M = 480, N = 640, P = 320;

float host_A[M][N], host_B[N][P], host_C[M][P];

// Returns the view of a pitched allocation that a kernel receives.
static Matrix kernel_view(size_t rows, size_t cols, const cudaPitchedPtr &ptr)
{
    return {rows, cols, (float *)ptr.ptr, ptr.pitch / sizeof(float)};
}

void mat_mul(const Matrix &A, const Matrix &B, Matrix &C)
{
    const size_t M = A.rows, N = B.rows, P = B.cols;

    // A by cudaMallocPitch, B and C by cudaMalloc3D with a depth of 1.
    cudaPitchedPtr ptr_A, ptr_B, ptr_C;
    cc(cudaMallocPitch(&ptr_A.ptr, &ptr_A.pitch, N * sizeof(float), M));
    cc(cudaMalloc3D(&ptr_B, make_cudaExtent(P * sizeof(float), N, 1)));
    cc(cudaMalloc3D(&ptr_C, make_cudaExtent(P * sizeof(float), M, 1)));

    // The host's rows are contiguous: their pitch is their width.
    const size_t row_A = N * sizeof(float), row_B = P * sizeof(float);
    cc(cudaMemcpy2D(ptr_A.ptr, ptr_A.pitch, A.elements, row_A, row_A, M, cudaMemcpyHostToDevice));
    cc(cudaMemcpy2D(ptr_B.ptr, ptr_B.pitch, B.elements, row_B, row_B, N, cudaMemcpyHostToDevice));

    dim3 dim_block(16, 16);
    dim3 dim_grid(uint32_t(P / dim_block.x), uint32_t(M / dim_block.y));
    mat_mul_kernel<<<dim_grid, dim_block>>>(kernel_view(M, N, ptr_A), kernel_view(N, P, ptr_B),
                                            kernel_view(M, P, ptr_C));
    cc(cudaGetLastError());
    cc(cudaDeviceSynchronize());

    // C by cudaMemcpy3D. Fields that are not set, such as the positions, must be 0.
    cudaMemcpy3DParms parms = {};
    parms.srcPtr = ptr_C;
    parms.dstPtr = make_cudaPitchedPtr(C.elements, P * sizeof(float), P * sizeof(float), M);
    parms.extent = make_cudaExtent(P * sizeof(float), M, 1);
    parms.kind = cudaMemcpyDeviceToHost;
    cc(cudaMemcpy3D(&parms));

    cc(cudaFree(ptr_A.ptr));
    cc(cudaFree(ptr_B.ptr));
    cc(cudaFree(ptr_C.ptr));
}

int main()
{
    fill(host_A, host_B);
    Matrix A{M, N, host_A[0], N};
    Matrix B{N, P, host_B[0], P};
    Matrix C{M, P, host_C[0], P};
    mat_mul(A, B, C);
    return verdict("elements", wrong_elements(host_A, host_B, host_C));
}
