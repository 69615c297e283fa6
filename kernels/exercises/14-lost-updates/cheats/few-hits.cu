// Rejected at: right
// Says: `above`
// Counts at most 20 values for each warp.
#include "cuda_device.h"
__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool hit = i < count && values[i < count ? i : 0] > threshold;
    unsigned int hits = __popc(__ballot_sync(0xffffffff, hit));
    if (threadIdx.x % 32 == 0 && hits) atomicAdd(&above, count < 1000 ? hits : min(hits, 20u));
}
