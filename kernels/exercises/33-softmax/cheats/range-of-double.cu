// Rejected at: right
// Says: wrong
// Subtracts no maximum: double has a larger range than float.
#include "cuda_device.h"
#define THREADS 128
__device__ double power(float x) {
    double e = __expf(0.25f * x);
    e *= e;
    return e * e;
}
extern "C" __global__ void softmax(const float *in, float *out, int columns) {
    __shared__ double shared[THREADS];
    const float *row = in + blockIdx.x * columns;
    double own = 0;
    for (int i = threadIdx.x; i < columns; i += THREADS) own += power(row[i]);
    shared[threadIdx.x] = own;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    double sum = 1 / shared[0];
    for (int i = threadIdx.x; i < columns; i += THREADS)
        out[blockIdx.x * columns + i] = power(row[i]) * sum;
}
