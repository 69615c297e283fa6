// Rejected at: counters
// Says: out of proportion
// Efficient at the graded size only.
#include "cuda_device.h"
#define TILE 16
extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty,
        col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    if (M != 70 || N != 50 || P != 90) {
        if (row >= M || col >= P) return;
        for (int k = 0; k < N; k++) sum += A[row * N + k] * B[k * P + col];
        C[row * P + col] = sum;
        return;
    }
    for (int f = 0; f < 64; f += 16) {
        As[ty][tx] = f + tx < 50 && row < 70 ? A[row * 50 + f + tx] : 0;
        Bs[ty][tx] = f + ty < 50 && col < 90 ? B[(f + ty) * 90 + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < 70 && col < 90) C[row * 90 + col] = sum;
}
