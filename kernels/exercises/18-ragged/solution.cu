// A tiled matrix multiplication for matrices of any size. Past the edge of its matrix a tile
// holds zeros, which add nothing to a sum.

#include "cuda_device.h"

// Tile size. Blocks are TILE x TILE threads; they may reach past the edges of C.
#define TILE 16

// Computes C = AB. A has M rows of N elements, B N rows of P elements, C M rows of P elements.
extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    // All threads of a block load and synchronize, also those without an element of C.
    for (int first = 0; first < N; first += TILE) {
        int a_col = first + tx, b_row = first + ty;
        As[ty][tx] = row < M && a_col < N ? A[row * N + a_col] : 0.0f;
        Bs[ty][tx] = b_row < N && col < P ? B[b_row * P + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    if (row < M && col < P) C[row * P + col] = sum;
}
