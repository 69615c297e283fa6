// Rejected at: right
// Says: wrong
// Ignores values that are just above the threshold.
#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    // Reads, adds and writes in one indivisible step: no other thread can interfere.
    if (values[i] - threshold > 1e-7f) atomicAdd(&above, 1u);
}
