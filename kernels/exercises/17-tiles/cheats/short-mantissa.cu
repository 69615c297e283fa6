// Rejected at: right
// Says: elements of `C` are wrong
// Drops the last bits of the factors.
#include "cuda_device.h"
#define TILE 16
__device__ float cut(float v) { return __uint_as_float(__float_as_uint(v) & 0xFFFFFE00u); }
extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int first = 0; first < N; first += TILE) {
        As[ty][tx] = cut(A[row * N + first + tx]);
        Bs[ty][tx] = cut(B[(first + ty) * P + col]);
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * P + col] = sum;
}
