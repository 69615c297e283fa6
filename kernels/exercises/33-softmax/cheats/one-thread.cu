// Rejected at: counters, time
// Says: global load sectors: 98 304, required: from 4 096 to 12 800
#include "cuda_device.h"

// Threads per block.
#define THREADS 128
// Less than any number in `in`.
#define LOWEST -3.0e38f

// Computes out[i] = e^in[i] / (e^in[0] + e^in[1] + ...) in rows of `columns` numbers, one block per row.
extern "C" __global__ void softmax(const float *in, float *out, int columns) {
    __shared__ float shared[THREADS];
    const float *row = in + blockIdx.x * columns;
    (void)shared;
    if (threadIdx.x > 0) return;
    float greatest = LOWEST, sum = 0;
    for (int i = 0; i < columns; ++i) greatest = fmaxf(greatest, row[i]);
    for (int i = 0; i < columns; ++i) sum += __expf(row[i] - greatest);
    for (int i = 0; i < columns; ++i) out[blockIdx.x * columns + i] = __expf(row[i] - greatest) / sum;
}
