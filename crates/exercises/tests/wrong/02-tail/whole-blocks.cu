// Rejected at: right
// Says: No thread has written [0]: it is what it was before the launch.
// Only whole blocks work: nobody turns down the samples that are left over.

#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x < count / blockDim.x) samples[i] = samples[i] * gain;
}
