// Rejected at: launch
// Says: no `if (i < n)` that excludes threads past the end
// Reads before the bounds check. An optimizing compiler moves the read after the check.
#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sample = samples[i] * gain;
    if (i < count) samples[i] = sample;
}
