// A histogram whose bins in shared memory are never set to zero. Shared memory is not
// cleared when a block starts: it holds what an earlier block left there.

#include "cuda_device.h"

#define BINS 64

extern "C" __global__ void bins_not_zeroed(const int *values, int *histogram, int n) {
    __shared__ int bins[BINS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i < n) {
        atomicAdd(&bins[values[i] % BINS], 1); // BUG: init
    }
    __syncthreads();
    if (t < BINS) {
        atomicAdd(&histogram[t], bins[t]); // BUG: init
    }
}

extern "C" __global__ void bins_not_zeroed_right(const int *values, int *histogram, int n) {
    __shared__ int bins[BINS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < BINS) bins[t] = 0;
    __syncthreads();
    if (i < n) {
        atomicAdd(&bins[values[i] % BINS], 1);
    }
    __syncthreads();
    if (t < BINS) {
        atomicAdd(&histogram[t], bins[t]);
    }
}
