// Rejected at: right
// Says: updates a location of device memory that other threads update too
// Threads past the end all process the last sample, which is therefore scaled repeatedly.

#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    i = min(i, count - 1);
    samples[i] = samples[i] * gain;
}
