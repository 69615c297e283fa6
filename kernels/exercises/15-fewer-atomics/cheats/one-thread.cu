// Rejected at: counters
// Says: global atomic requests + global reduction requests: 0, required: from 1 to 391
// One thread sums all numbers and needs no atomic operation.
#include "cuda_device.h"

__device__ unsigned int total;

extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    unsigned int sum = 0;
    for (int k = 0; k < count; k++) sum += numbers[k];
    total = sum;
}
