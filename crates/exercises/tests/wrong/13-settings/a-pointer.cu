// Rejected at: launch
// Says: The variable `settings` has 8 bytes, and should have 16
// A constant pointer: 8 bytes, which hold an address. The host copies settings there.

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
