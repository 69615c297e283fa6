// A warp counts with a vote, and one lane adds for all.
#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int votes = __ballot_sync(~0u, i < count && values[i] > threshold);
    if (threadIdx.x % 32 == 0 && votes != 0) atomicAdd(&above, __popc(votes));
}
