// Loads the next tiles into registers while multiplying the current ones; `As` is transposed.
#include "cuda_device.h"

#define TILE 16

extern "C" __global__ void __launch_bounds__(256) product(const float *A, const float *B, float *C,
                                                          int M, int N, int P) {
    __shared__ float As[TILE][TILE + 1], Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    const float *a = A + (blockIdx.y * TILE + ty) * N + tx;
    const float *b = B + ty * P + blockIdx.x * TILE + tx;
    float next_a = *a, next_b = *b, sum = 0.0f;
    for (int first = 0; first < N; first += TILE) {
        As[tx][ty] = next_a;
        Bs[ty][tx] = next_b;
        __syncthreads();
        if (first + TILE < N) {
            next_a = *(a += TILE);
            next_b = *(b += TILE * P);
        }
#pragma unroll
        for (int k = 0; k < TILE; k++) sum += As[k][ty] * Bs[k][tx];
        __syncthreads();
    }
    C[(blockIdx.y * TILE + ty) * P + blockIdx.x * TILE + tx] = sum;
}
