// Tiles that end at the edge of the matrix: past the edge nothing is loaded, and nothing is
// stored to the tile. The multiplication uses the whole tile, where zeros should be.

#include "cuda_device.h"

#define TILE 16

// Computes C = AB, all of n x n.
extern "C" __global__ void ragged_tile_unset(const float *A, const float *B, float *C, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int k = 0; k < n; k += TILE) {
        if (row < n && k + tx < n) As[ty][tx] = A[row * n + k + tx];
        if (k + ty < n && col < n) Bs[ty][tx] = B[(k + ty) * n + col];
        __syncthreads();
        for (int j = 0; j < TILE; j++) {
            sum += As[ty][j] * Bs[j][tx]; // BUG: init
        }
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = sum;
}

extern "C" __global__ void ragged_tile_unset_right(const float *A, const float *B, float *C,
                                                   int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int k = 0; k < n; k += TILE) {
        As[ty][tx] = row < n && k + tx < n ? A[row * n + k + tx] : 0.0f;
        Bs[ty][tx] = k + ty < n && col < n ? B[(k + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int j = 0; j < TILE; j++) {
            sum += As[ty][j] * Bs[j][tx];
        }
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = sum;
}
