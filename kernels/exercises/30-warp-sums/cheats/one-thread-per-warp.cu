// Rejected at: counters
// Says: global load sectors: 100 000, required: at most 12 500
#include "cuda_device.h"

extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 32 != 0 || i >= n) return;
    float sum = 0;
    for (int k = i; k < i + 32 && k < n; ++k) sum += in[k];
    sums[i / 32] = sum;
}
