// Rejected at: right, checks
// Says: A data race: a read of data that another thread may not have written yet
// One lane adds for its warp, but not atomically.
#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int votes = __ballot_sync(~0u, i < count && values[i] > threshold);
    volatile unsigned int *shared_by_all = &above;
    if ((threadIdx.x & 31) == 0) *shared_by_all = *shared_by_all + __popc(votes);
}
