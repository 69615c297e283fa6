// Computes maximum and sum in one pass: the sum is rescaled when the maximum grows.
#include "cuda_device.h"

// Threads per block.
#define THREADS 128
// Less than any number in `in`.
#define LOWEST -3.0e38f

// Computes out[i] = e^in[i] / (e^in[0] + e^in[1] + ...) in rows of `columns` numbers, one block per row.
extern "C" __global__ void softmax(const float *in, float *out, int columns) {
    __shared__ float shared[THREADS];
    const float *row = in + blockIdx.x * columns;
    __shared__ float sums[THREADS];
    float largest = LOWEST, own = 0;
    for (int i = threadIdx.x; i < columns; i += THREADS) {
        float greater = fmaxf(largest, row[i]);
        own = own * __expf(largest - greater) + __expf(row[i] - greater);
        largest = greater;
    }
    shared[threadIdx.x] = largest;
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    float greatest = shared[0];
    sums[threadIdx.x] = own == 0 ? 0 : own * __expf(largest - greatest);
    __syncthreads();
    float sum = 0;
    for (int t = 0; t < THREADS; ++t) sum += sums[t];
    for (int i = threadIdx.x; i < columns; i += THREADS)
        out[blockIdx.x * columns + i] = __expf(row[i] - greatest) / sum;
}
