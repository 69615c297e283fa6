// Rejected at: checks
// Says: A data race: a write to data that another thread may not have read yet
// A warp that is ahead loads the next tiles while others still multiply the current ones.

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
        As[ty][tx] = A[row * N + first + tx];
        Bs[ty][tx] = B[(first + ty) * P + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            sum += As[ty][k] * Bs[k][tx];
        }
    }
    C[row * P + col] = sum;
}
