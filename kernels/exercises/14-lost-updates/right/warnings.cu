// The compiler warns, and a function needs its header.
#include <stdio.h>
#include "cuda_device.h"
#define DEBUG_THREAD (blockIdx.x == 99999 && threadIdx.x == 0)
__device__ unsigned int above;
extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (DEBUG_THREAD) printf("size of an element %d, of a pointer %d, address %x\n", sizeof(values[0]), sizeof(values), values);
    float value = i < count ? __ldcs(&values[i]) : threshold;
    unsigned int ones = __ballot_sync(0xffffffff, value > threshold);
    if (threadIdx.x % 32 == 0) atomicAdd(&above, __popc(ones));
}
