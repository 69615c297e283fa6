// Sums end at the edges of A and B, so the rest of a tile is not used.
#include "cuda_device.h"

#define TILE 16

extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int first = 0; first < N; first += TILE) {
        if (row < M && first + tx < N) As[ty][tx] = A[row * N + first + tx];
        if (first + ty < N && col < P) Bs[ty][tx] = B[(first + ty) * P + col];
        __syncthreads();
        if (row < M && col < P) {
            for (int k = 0; k < min(TILE, N - first); k++) sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    if (row < M && col < P) C[row * P + col] = sum;
}
