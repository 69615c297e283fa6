// Rejected at: right
// Says: All wrong elements have the same value, 0.032258064,
// Each thread uses the maximum of only its own numbers.
#include "cuda_device.h"

// Threads per block.
#define THREADS 128
// Less than any number in `in`.
#define LOWEST -3.0e38f

// Computes out[i] = e^in[i] / (e^in[0] + e^in[1] + ...) in rows of `columns` numbers, one block per row.
extern "C" __global__ void softmax(const float *in, float *out, int columns) {
    __shared__ float shared[THREADS];
    const float *row = in + blockIdx.x * columns;
    float greatest = LOWEST;
    for (int i = threadIdx.x; i < columns; i += THREADS) greatest = fmaxf(greatest, row[i]);
    float own = 0;
    for (int i = threadIdx.x; i < columns; i += THREADS) own += __expf(row[i] - greatest);
    shared[threadIdx.x] = own;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = shared[threadIdx.x] + shared[threadIdx.x + half];
        __syncthreads();
    }
    float sum = shared[0];
    for (int i = threadIdx.x; i < columns; i += THREADS)
        out[blockIdx.x * columns + i] = __expf(row[i] - greatest) / sum;
}
