// Declared in `extern "C"`, so that its name is not mangled.
#include "cuda_device.h"

struct Settings {
    float gain, offset, lowest, highest;
};

extern "C" __constant__ Settings settings;

extern "C" __global__ void amplify(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sample = settings.gain * in[i] + settings.offset;
    out[i] = fminf(fmaxf(sample, settings.lowest), settings.highest);
}
