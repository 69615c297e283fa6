// Threads count from the last sample, so threads of the first block may have no sample.
#include "cuda_device.h"

__device__ int sample_of(int count) {
    return count - 1 - (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

extern "C" __global__ void fade(float *samples, float gain, int count) {
    for (int i = sample_of(count); i >= 0; i = -1) samples[i] = gain * samples[i];
}
