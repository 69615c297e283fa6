// Past the edge a tile contains zeros, selected after a load from a clamped address.
#include "cuda_device.h"

#define TILE 16

extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int first = 0; first < N; first += TILE) {
        float a = A[min(row, M - 1) * N + min(first + tx, N - 1)];
        float b = B[min(first + ty, N - 1) * P + min(col, P - 1)];
        As[ty][tx] = first + tx < N ? a : 0.0f;
        Bs[ty][tx] = first + ty < N ? b : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < P) C[row * P + col] = sum;
}
