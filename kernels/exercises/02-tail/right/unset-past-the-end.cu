// Threads past the end compute with a variable that they do not set, and store nothing.
#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s;
    if (i < count) s = samples[i];
    s *= gain;
    if (i < count) samples[i] = s;
}
