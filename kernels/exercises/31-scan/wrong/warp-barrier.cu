// Rejected at: right, checks
// Says: A data race: a read of data that another thread may not have written yet
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
        float before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
        __syncwarp();
        sums[threadIdx.x] += before;
        __syncwarp();
    }
    if (i < n) out[i] = sums[threadIdx.x];
}
