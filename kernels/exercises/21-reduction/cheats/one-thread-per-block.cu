// Rejected at: counters
// Says: global load sectors: 20 000, required: from 2 500 to 3 125
// One thread sums 256 numbers: no shared memory, no conflicts and no steps.
#include "cuda_device.h"

extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    if (threadIdx.x != 0) return;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256; i < n && i < (blockIdx.x + 1) * 256; ++i) sum += in[i];
    sums[blockIdx.x] = sum;
}
