// Tiles of 16 by 32: half as many barriers and the same loads.
#include "cuda_device.h"

#define TILE 16

extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE][2 * TILE], Bs[2 * TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int first = 0; first < N; first += 2 * TILE) {
        for (int half = 0; half < 2; half++) {
            int k = half * TILE;
            if (first + k >= N) break;
            As[ty][k + tx] = A[row * N + first + k + tx];
            Bs[k + ty][tx] = B[(first + k + ty) * P + col];
        }
        __syncthreads();
        for (int k = 0; k < min(2 * TILE, N - first); k++) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * P + col] = sum;
}
