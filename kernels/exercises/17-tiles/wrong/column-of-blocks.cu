// Rejected at: right
// Says: elements of `C` are wrong
// The tile of B moves to the right like the tile of A, although it has to move down.

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
        Bs[ty][tx] = B[ty * P + (col + first) % P];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    C[row * P + col] = sum;
}
