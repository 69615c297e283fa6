// Rejected at: launch
// Says: threads past the end that no `if (i < n)` keeps out
// Reads before it asks whether it may. An optimising compiler moves the read behind the question.
#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sample = samples[i] * gain;
    if (i < count) samples[i] = sample;
}
