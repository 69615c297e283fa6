// Rejected at: right, checks
// Says: A race: a read of what another thread may not have written yet
// Threads of a warp take turns, and warps do not: they lose updates of each other's (as the compiler likes).
#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int lane = 0; lane < 32; ++lane) {
        bool turn = (threadIdx.x & 31) == lane;
        if (turn && i < count && values[i] > threshold) above = above + 1;
    }
}
