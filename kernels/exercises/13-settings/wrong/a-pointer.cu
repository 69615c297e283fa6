// Rejected at: launch
// Says: The variable `settings` has 8 bytes instead of 16
// A constant pointer: its 8 bytes hold an address, but the host copies the settings there.

#include "cuda_device.h"

struct Settings {
    float gain;
    float offset;
    float lowest, highest;
};

__constant__ Settings *settings;

extern "C" __global__ void amplify(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sample = settings->gain * in[i] + settings->offset;
    out[i] = fminf(fmaxf(sample, settings->lowest), settings->highest);
}
