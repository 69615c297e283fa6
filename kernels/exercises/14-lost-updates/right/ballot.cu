// One lane of each warp adds the number of votes.
#include "cuda_device.h"
__device__ unsigned int above;
extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned w = 0;
    if (i < count) w = values[i] > threshold ? 1 : 0;
    w = __ballot_sync(0xffffffff, w);
    if ((threadIdx.x & 31) == 0) atomicAdd(&above, __popc(w));
}