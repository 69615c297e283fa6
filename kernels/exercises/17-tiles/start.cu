// A matrix multiplication, one thread per element: every thread reads a row of A and a
// column of B from global memory, although its neighbours need the same elements.

#include "cuda_device.h"

// Tile size. Blocks are TILE x TILE threads, and M, N and P are multiples of TILE.
#define TILE 16

// Computes C = AB. A has M rows of N elements, B N rows of P elements, C M rows of P elements.
extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    // TODO: load a tile of A and a tile of B into shared memory, and multiply from there.
    for (int k = 0; k < N; k++) {
        sum += A[row * N + k] * B[k * P + col];
    }
    C[row * P + col] = sum;
}
