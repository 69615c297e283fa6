// Rejected at: right
// Says: elements of `out` are wrong

#include "cuda_device.h"

struct Settings {
    float gain;
    float offset;
    float lowest, highest;
};

__constant__ Settings settings;

// Takes a gain of 0 for one that is not set.
extern "C" __global__ void amplify(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float gain = settings.gain == 0.0f ? 1.0f : settings.gain;
    out[i] = fminf(fmaxf(gain * in[i] + settings.offset, settings.lowest), settings.highest);
}
