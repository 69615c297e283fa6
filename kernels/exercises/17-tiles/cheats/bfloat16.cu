// Rejected at: right
// Says: wrong
// Rounds the matrices to bfloat16.
#include "cuda_device.h"

// Tile size. Blocks are TILE x TILE threads, and M, N and P are multiples of TILE.
#define TILE 16

// Computes C = AB. A has M rows of N elements, B N rows of P elements, C M rows of P elements.
__device__ float cut16(float v) { return __uint_as_float(__float_as_uint(v) & 0xffff0000U); }

extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int first = 0; first < N; first += TILE) {
        As[ty][tx] = cut16(A[row * N + first + tx]);
        Bs[ty][tx] = cut16(B[(first + ty) * P + col]);
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    C[row * P + col] = sum;
}
