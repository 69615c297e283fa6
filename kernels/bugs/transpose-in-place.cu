// A tile transposed in place: every thread moves the element on the other side of the diagonal to its
// own position, which may already hold the new value. Both threads of a pair do so, in two warps.

#include "cuda_device.h"

#define TILE 16

extern "C" __global__ void transpose_in_place(float *matrix) {
    __shared__ float tile[TILE][TILE + 1];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = matrix[y * TILE + x];
    __syncthreads();
    tile[y][x] = tile[x][y]; // BUG: race
    __syncthreads();
    matrix[y * TILE + x] = tile[y][x];
}

extern "C" __global__ void transpose_in_place_right(float *matrix) {
    __shared__ float tile[TILE][TILE + 1];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = matrix[y * TILE + x];
    __syncthreads();
    float opposite = tile[x][y];
    __syncthreads();
    tile[y][x] = opposite;
    __syncthreads();
    matrix[y * TILE + x] = tile[y][x];
}
