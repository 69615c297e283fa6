// A tiled matrix multiplication: a block loads each element of its tiles once,
// for all of its threads.

#include "cuda_device.h"

// Tile size. Blocks are TILE x TILE threads, and M, N and P are multiples of TILE.
#define TILE 16

// Computes C = AB. A has M rows of N elements, B N rows of P elements, C M rows of P elements.
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
        __syncthreads();
    }
    C[row * P + col] = sum;
}
