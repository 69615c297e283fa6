// An amplifier whose settings the host chooses.
//
// Before the launch the host copies them to the constant variable `settings`, by its name.
// Launched with blocks of 128 threads, one thread a sample.

#include "cuda_device.h"

struct Settings {
    float gain;
    float offset;
    float lowest, highest;
};

// As long as the module is loaded. Kernels read it, and the host writes it between launches.
__constant__ Settings settings;

extern "C" __global__ void amplify(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sample = settings.gain * in[i] + settings.offset;
    out[i] = fminf(fmaxf(sample, settings.lowest), settings.highest);
}
