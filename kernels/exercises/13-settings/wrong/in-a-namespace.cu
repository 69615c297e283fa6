// Rejected at: launch
// Says: your file declares it in a namespace
#include "cuda_device.h"

struct Settings {
    float gain;
    float offset;
    float lowest, highest;
};

namespace {
__constant__ Settings settings;
}

extern "C" __global__ void amplify(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sample = settings.gain * in[i] + settings.offset;
    out[i] = fminf(fmaxf(sample, settings.lowest), settings.highest);
}
