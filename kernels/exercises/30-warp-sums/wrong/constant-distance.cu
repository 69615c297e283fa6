// Rejected at: right
// Says: Correct at size 1. Wrong at size 31, 32,
// The distance of each step stays at 1, so values are added repeatedly.
#include "cuda_device.h"

extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? in[i] : 0;
    for (int step = 0; step < 5; ++step) value += __shfl_down_sync(0xffffffff, value, 1);
    if (threadIdx.x % 32 == 0 && i < n) sums[i / 32] = value;
}
