// Rejected at: launch
// Says: `<=` instead of `<`
// One thread too many: the samples are numbered from 0, so there is no sample `count`.

#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= count) samples[i] = samples[i] * gain;
}
