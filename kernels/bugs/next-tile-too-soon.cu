// A tiled matrix multiplication with a barrier before the tiles are read and none after. A
// fast warp overwrites the tiles that a slow warp is still reading.

#include "cuda_device.h"

#define TILE 16

// Computes C = AB, all of n x n, n a multiple of TILE.
extern "C" __global__ void next_tile_too_soon(const float *A, const float *B, float *C, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int k = 0; k < n; k += TILE) {
        As[ty][tx] = A[row * n + k + tx]; // BUG: race
        Bs[ty][tx] = B[(k + ty) * n + col]; // BUG: race
        __syncthreads();
        for (int j = 0; j < TILE; j++) {
            sum += As[ty][j] * Bs[j][tx]; // with this
        }
    }
    C[row * n + col] = sum;
}

extern "C" __global__ void next_tile_too_soon_right(const float *A, const float *B, float *C,
                                                    int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int k = 0; k < n; k += TILE) {
        As[ty][tx] = A[row * n + k + tx];
        Bs[ty][tx] = B[(k + ty) * n + col];
        __syncthreads();
        for (int j = 0; j < TILE; j++) {
            sum += As[ty][j] * Bs[j][tx];
        }
        __syncthreads();
    }
    C[row * n + col] = sum;
}
