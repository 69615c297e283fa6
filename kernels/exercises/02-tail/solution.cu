// Turns a recording down: every sample times `gain`, in place.
//
// Launched with blocks of 128 threads, a thread a sample, and as many blocks as it takes
// to cover `count` samples.

#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // The last block is whole, even where fewer samples are left than it has threads.
    if (i < count) samples[i] = samples[i] * gain;
}
