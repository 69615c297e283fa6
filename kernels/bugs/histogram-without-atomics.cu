// A histogram in shared memory that uses `++`: two threads with the same value read the same
// count, and one increment is lost (a lost update). atomicAdd increments in one step.

#include "cuda_device.h"

#define BINS 64

extern "C" __global__ void histogram_without_atomics(const int *values, int *histogram, int n) {
    __shared__ int bins[BINS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < BINS) bins[t] = 0;
    __syncthreads();
    if (i < n) {
        bins[values[i] % BINS]++; // BUG: race
    }
    __syncthreads();
    if (t < BINS) atomicAdd(&histogram[t], bins[t]);
}

extern "C" __global__ void histogram_without_atomics_right(const int *values, int *histogram,
                                                           int n) {
    __shared__ int bins[BINS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < BINS) bins[t] = 0;
    __syncthreads();
    if (i < n) {
        atomicAdd(&bins[values[i] % BINS], 1);
    }
    __syncthreads();
    if (t < BINS) atomicAdd(&histogram[t], bins[t]);
}
