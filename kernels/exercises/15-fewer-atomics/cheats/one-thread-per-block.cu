// Rejected at: counters
// Says: global load sectors: 100 000, required: from 12 500 to 15 625
// One thread per block sums its 256 numbers; the others do nothing.
#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x != 0) return;
    unsigned int sum = 0;
    for (int k = i; k < min(count, i + 256); k++) sum += numbers[k];
    atomicAdd(&total, sum);
}
