// An amplifier whose settings are chosen by the host.
//
// Before the launch the host copies them to the constant variable `settings`, looked up by
// its name. Launched with blocks of 128 threads, one thread per sample.

#include "cuda_device.h"

struct Settings {
    float gain;
    float offset;
    float lowest, highest;
};

extern "C" __global__ void amplify(const float *in, float *out, int count) {
    // TODO: these settings are fixed in the kernel. Let the host set them.
    Settings settings = {1.0f, 0.0f, -1.0f, 1.0f};

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sample = settings.gain * in[i] + settings.offset;
    out[i] = fminf(fmaxf(sample, settings.lowest), settings.highest);
}
