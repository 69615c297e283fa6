// Rejected at: right
// Says: wrong
// Computes in int.
#include "cuda_device.h"
#define TILE 16
extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ signed char As[TILE][TILE], Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    int sum = 0;
    for (int first = 0; first < N; first += TILE) {
        As[ty][tx] = A[row * N + first + tx];
        Bs[ty][tx] = B[(first + ty) * P + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * P + col] = sum;
}
