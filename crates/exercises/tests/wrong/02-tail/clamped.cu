// Rejected at: right
// Says: changes a place in device memory that other threads change as well
// Threads past the end all work on the last sample, which is turned down again and again.

#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    i = min(i, count - 1);
    samples[i] = samples[i] * gain;
}
