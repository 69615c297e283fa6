// Rejected at: right
// Says: elements of `out`

#include "cuda_device.h"

// Adds the number that enters and subtracts the one that leaves, which is not exact for numbers of different magnitudes.
extern "C" __global__ void sums(const float *in, float *out, int n) {
    __shared__ float tile[2048 + 8];
    __shared__ float results[2048];
    int first = blockIdx.x * 2048;
    for (int i = threadIdx.x; i < 2048 + 8; i += 256)
        tile[i] = first + i < n + 8 ? in[first + i] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 9; k++) sum += tile[8 * threadIdx.x + k];
    results[8 * threadIdx.x] = sum;
    for (int p = 1; p < 8; p++) {
        sum += tile[8 * threadIdx.x + p + 8] - tile[8 * threadIdx.x + p - 1];
        results[8 * threadIdx.x + p] = sum;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2048 && first + i < n; i += 256) out[first + i] = results[i];
}
