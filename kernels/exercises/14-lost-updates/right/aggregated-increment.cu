// One lane adds for its group. The others pass a variable to the shuffle that they have not set.
#include "cuda_device.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ unsigned int above;

// Warp-aggregated increment, from NVIDIA's blog.
__device__ unsigned int atomicAggInc(unsigned int *counter) {
    cg::coalesced_group g = cg::coalesced_threads();
    unsigned int previous;
    if (g.thread_rank() == 0) previous = atomicAdd(counter, g.size());
    return g.shfl(previous, 0) + g.thread_rank();
}

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    if (values[i] > threshold) atomicAggInc(&above);
}
