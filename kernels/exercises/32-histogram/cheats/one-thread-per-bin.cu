// Rejected at: counters
// Says: global atomic requests + global reduction requests: 0, required: from 1 to 128
// Every thread of the first block reads all values.
#include "cuda_device.h"

extern "C" __global__ void histogram(const unsigned char *values, unsigned int *counts, int n) {
    if (blockIdx.x > 0) return;
    unsigned int many = 0;
    for (int i = 0; i < n; ++i) many += values[i] == threadIdx.x;
    counts[threadIdx.x] = many;
}
