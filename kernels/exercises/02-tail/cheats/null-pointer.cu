// Rejected at: launch
// Says: a pointer that was never set
// Writes through a null pointer. An optimizing compiler assumes that this never happens.
#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *nowhere = nullptr;
    if (i == 0) *nowhere = 1;
    if (i < count) samples[i] = samples[i] * gain;
}
