// Rejected at: counters
// Says: global atomic requests + global reduction requests: 0, required: from 1 to 3 128
// One thread counts all values.
#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i != 0) return;
    unsigned int found = 0;
    for (int j = 0; j < count; j++) found += values[j] > threshold;
    above = found;
}
