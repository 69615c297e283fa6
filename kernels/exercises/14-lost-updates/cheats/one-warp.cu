// Rejected at: time
// Says: one thread, one warp of a block or one block
// One warp counts all values, with coalesced loads and a single atomic addition per thread.
#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 32) return;
    unsigned int found = 0;
    for (int j = i; j < count; j += 32) found += values[j] > threshold;
    atomicAdd(&above, found);
}
