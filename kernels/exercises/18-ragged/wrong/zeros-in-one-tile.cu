// Rejected at: right
// Says: A read of uninitialized shared memory
// Only the tile of A is padded with zeros: zero times uninitialized shared memory may be NaN.

#include "cuda_device.h"

#define TILE 16

extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int first = 0; first < N; first += TILE) {
        int a_col = first + tx, b_row = first + ty;
        As[ty][tx] = row < M && a_col < N ? A[row * N + a_col] : 0.0f;
        if (b_row < N && col < P) Bs[ty][tx] = B[b_row * P + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    if (row < M && col < P) C[row * P + col] = sum;
}
