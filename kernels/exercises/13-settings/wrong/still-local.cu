// Rejected at: right
// Says: No thread read the variable `settings`, which the host sets.
// Declares the variable but still uses the kernel's local variable of the same name.

#include "cuda_device.h"

struct Settings {
    float gain;
    float offset;
    float lowest, highest;
};

__constant__ Settings settings;

extern "C" __global__ void amplify(const float *in, float *out, int count) {
    Settings settings = {1.0f, 0.0f, -1.0f, 1.0f};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sample = settings.gain * in[i] + settings.offset;
    out[i] = fminf(fmaxf(sample, settings.lowest), settings.highest);
}
