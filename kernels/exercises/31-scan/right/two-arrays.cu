#include "cuda_device.h"

// Threads per block, and numbers per scan.
#define THREADS 256

// Computes out[i] as the sum of in[i / THREADS * THREADS] to in[i].
extern "C" __global__ void scan(const float *in, float *out, int n) {
    __shared__ float sums[2][THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, from = 0;
    sums[0][threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2) {
        float value = sums[from][threadIdx.x];
        if (threadIdx.x >= distance) value += sums[from][threadIdx.x - distance];
        sums[1 - from][threadIdx.x] = value;
        from = 1 - from;
        __syncthreads();
    }
    if (i < n) out[i] = sums[from][threadIdx.x];
}
