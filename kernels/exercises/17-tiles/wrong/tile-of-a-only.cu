// Rejected at: counters
// Says: global load requests: 26 112, required: at most 3 072
// A is loaded through a tile, but every thread reads B from global memory, as before.

#include "cuda_device.h"

#define TILE 16

extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int first = 0; first < N; first += TILE) {
        As[ty][tx] = A[row * N + first + tx];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            sum += As[ty][k] * B[(first + k) * P + col];
        }
        __syncthreads();
    }
    C[row * P + col] = sum;
}
