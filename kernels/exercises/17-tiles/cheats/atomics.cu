// Rejected at: checks
// Says: performs an atomic operation on its input
// No tiles: elements are read with atomics, which are not counted as loads.
#include "cuda_device.h"

__device__ __forceinline__ float load(const float *p) {
    return __uint_as_float(atomicOr((unsigned int *)p, 0u));
}

extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < N; k++) sum += load(&A[row * N + k]) * load(&B[k * P + col]);
    C[row * P + col] = sum;
}
