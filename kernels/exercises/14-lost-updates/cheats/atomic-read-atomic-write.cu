// Rejected at: right, checks
// Says: A data race: two threads write to one location in an undefined order
// Each half of the update is atomic, but the update is not: another thread can update in between.
#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int lane = 0; lane < 32; ++lane) {
        bool turn = (threadIdx.x & 31) == lane;
        if (turn && i < count && values[i] > threshold) {
            atomicExch(&above, atomicAdd(&above, 0u) + 1);
        }
    }
}
