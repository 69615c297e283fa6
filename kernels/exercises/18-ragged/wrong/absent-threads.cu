// Rejected at: right
// Says: A read of uninitialized shared memory
// The tiles are padded with zeros, but threads without an element of C return before they have loaded
// their part of the tiles.

#include "cuda_device.h"

#define TILE 16

extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    if (row >= M || col >= P) return;
    float sum = 0.0f;
    for (int first = 0; first < N; first += TILE) {
        As[ty][tx] = first + tx < N ? A[row * N + first + tx] : 0.0f;
        Bs[ty][tx] = first + ty < N ? B[(first + ty) * P + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    C[row * P + col] = sum;
}
