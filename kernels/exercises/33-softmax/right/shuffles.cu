#include "cuda_device.h"

// Threads per block.
#define THREADS 128
// Less than any number in `in`.
#define LOWEST -3.0e38f

// Computes out[i] = e^in[i] / (e^in[0] + e^in[1] + ...) in rows of `columns` numbers, one block per row.
extern "C" __global__ void softmax(const float *in, float *out, int columns) {
    __shared__ float shared[THREADS];
    const float *row = in + blockIdx.x * columns;
    float greatest = LOWEST, sum = 0;
    for (int i = threadIdx.x; i < columns; i += THREADS) greatest = fmaxf(greatest, row[i]);
    for (int mask = 16; mask > 0; mask /= 2) greatest = fmaxf(greatest, __shfl_xor_sync(~0u, greatest, mask));
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = greatest;
    __syncthreads();
    greatest = fmaxf(fmaxf(shared[0], shared[1]), fmaxf(shared[2], shared[3]));
    for (int i = threadIdx.x; i < columns; i += THREADS) sum += __expf(row[i] - greatest);
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
    if (threadIdx.x % 32 == 0) shared[32 + threadIdx.x / 32] = sum;
    __syncthreads();
    sum = shared[32] + shared[33] + shared[34] + shared[35];
    for (int i = threadIdx.x; i < columns; i += THREADS)
        out[blockIdx.x * columns + i] = __expf(row[i] - greatest) / sum;
}
