// A shuffle executed by all 32 lanes whose mask names the lower half only. A lane must be in
// the mask of every shuffle that it executes.

#include "cuda_device.h"

extern "C" __global__ void shuffle_mask(const float *in, float *sums) {
    float sum = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_down_sync(0x0000ffff, sum, d); // BUG: sync
    }
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
}

extern "C" __global__ void shuffle_mask_right(const float *in, float *sums) {
    float sum = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, d);
    }
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
}
