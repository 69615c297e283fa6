// Rejected at: launch, right, checks
// Says: `__syncthreads()` in an `if` or a loop that not all threads of the block enter
#include "cuda_device.h"

// Threads per block, and numbers per scan.
#define THREADS 256

// Computes out[i] as the sum of in[i / THREADS * THREADS] to in[i].
extern "C" __global__ void scan(const float *in, float *out, int n) {
    __shared__ float sums[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2) {
        if (threadIdx.x >= distance) {
            float before = sums[threadIdx.x - distance];
            __syncthreads();
            sums[threadIdx.x] += before;
        }
        __syncthreads();
    }
    if (i < n) out[i] = sums[threadIdx.x];
}
