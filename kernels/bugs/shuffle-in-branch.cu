// A shuffle of all 32 lanes in a branch that only 16 of them take. The mask names lanes that
// never arrive, so their values are undefined.

#include "cuda_device.h"

extern "C" __global__ void shuffle_in_branch(const float *in, float *sums) {
    int lane = threadIdx.x % 32;
    float sum = in[threadIdx.x];
    if (lane < 16) {
        sum += __shfl_down_sync(0xffffffff, sum, 16); // BUG: sync
        sums[threadIdx.x] = sum;
    }
}

extern "C" __global__ void shuffle_in_branch_right(const float *in, float *sums) {
    int lane = threadIdx.x % 32;
    float sum = in[threadIdx.x];
    sum += __shfl_down_sync(0xffffffff, sum, 16);
    if (lane < 16) {
        sums[threadIdx.x] = sum;
    }
}
