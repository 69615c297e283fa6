// Bins are set to zero by the first threads while the others already count. An increment
// that comes before its bin is zeroed is lost.

#include "cuda_device.h"

#define BINS 64

extern "C" __global__ void zeroed_too_late(const int *values, int *histogram, int n) {
    __shared__ int bins[BINS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < BINS) {
        bins[t] = 0; // with this
    }
    if (i < n) {
        atomicAdd(&bins[values[i] % BINS], 1); // BUG: race
    }
    __syncthreads();
    if (t < BINS) atomicAdd(&histogram[t], bins[t]);
}

extern "C" __global__ void zeroed_too_late_right(const int *values, int *histogram, int n) {
    __shared__ int bins[BINS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < BINS) {
        bins[t] = 0;
    }
    __syncthreads();
    if (i < n) {
        atomicAdd(&bins[values[i] % BINS], 1);
    }
    __syncthreads();
    if (t < BINS) atomicAdd(&histogram[t], bins[t]);
}
