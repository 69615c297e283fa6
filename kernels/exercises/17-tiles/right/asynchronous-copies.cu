// The tiles are copied asynchronously.
#include <cuda_pipeline.h>
#define TILE 16
extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ float As[TILE * TILE], Bs[TILE * TILE];
    int tx = threadIdx.x, ty = threadIdx.y, id = ty * TILE + tx;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < N; k0 += TILE) {
        __pipeline_memcpy_async(&As[id], &A[row * N + k0 + tx], sizeof(float));
        __pipeline_memcpy_async(&Bs[id], &B[(k0 + ty) * P + col], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += As[ty * TILE + k] * Bs[k * TILE + tx];
        __syncthreads();
    }
    C[row * P + col] = sum;
}
