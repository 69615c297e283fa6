// Rejected at: counters
// Says: global load sectors: 30 720, required: from 12 288 to 15 360
// As few requests as possible, but neighbouring threads read elements of A that are a row apart.
#include "cuda_device.h"

#define TILE 16

extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int first = 0; first < N; first += TILE) {
        As[tx][ty] = A[(blockIdx.y * TILE + tx) * N + first + ty];
        Bs[ty][tx] = B[(first + ty) * P + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * P + col] = sum;
}
