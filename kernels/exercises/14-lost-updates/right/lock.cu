// A spin lock: slow but correct.
#include "cuda_device.h"

__device__ unsigned int above;
__device__ int lock = 0;

extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count || !(values[i] > threshold)) return;
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            volatile unsigned int *locked = &above;
            *locked = *locked + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}
