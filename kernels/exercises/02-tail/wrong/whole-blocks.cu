// Rejected at: right
// Says: No thread wrote [0]: it has the value from before the launch.
// Only whole blocks work; the remaining samples are not processed.

#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x < count / blockDim.x) samples[i] = samples[i] * gain;
}
