// Rejected at: right
// Says: The only element of `samples` is wrong
// Only whole blocks work: nobody turns down the samples that are left over.

#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x < count / blockDim.x) samples[i] = samples[i] * gain;
}
