// Turns a recording down: multiplies every sample by `gain`, in place.
//
// Launched with blocks of 128 threads, one thread per sample, and enough blocks
// to cover `count` samples.

#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: find out which threads have no sample, and what they do to memory that is not theirs.
    samples[i] = samples[i] * gain;
}
