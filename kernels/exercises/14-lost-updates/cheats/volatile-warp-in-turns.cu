// Rejected at: right, checks
// Says: A data race: a read of data that another thread may not have written yet
// The threads of a warp update in turn, but warps do not: updates of other warps are lost (volatile).
#include "cuda_device.h"

__device__ volatile unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int lane = 0; lane < 32; ++lane) {
        bool turn = (threadIdx.x & 31) == lane;
        if (turn && i < count && values[i] > threshold) above = above + 1;
    }
}
