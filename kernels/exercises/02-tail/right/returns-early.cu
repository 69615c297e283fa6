// Threads without a sample return immediately.
#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    samples[i] *= gain;
}
