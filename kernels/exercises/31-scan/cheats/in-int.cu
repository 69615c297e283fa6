// Rejected at: right
// Says: wrong
// Computes in int.
#include "cuda_device.h"
#define THREADS 256
extern "C" __global__ void scan(const float *in, float *out, int n) {
    __shared__ int sums[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2) {
        int before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    if (i < n) out[i] = sums[threadIdx.x];
}
