// Rejected at: counters
// Says: shared load instructions
#include "cuda_device.h"

// Threads per block, and numbers per scan.
#define THREADS 256

// Computes out[i] as the sum of in[i / THREADS * THREADS] to in[i].
extern "C" __global__ void scan(const float *in, float *out, int n) {
    __shared__ float sums[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 1; k < THREADS; ++k) sums[k] += sums[k - 1];
    __syncthreads();
    if (i < n) out[i] = sums[threadIdx.x];
}
