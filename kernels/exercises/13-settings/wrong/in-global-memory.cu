// Rejected at: counters
// Says: the variable `settings` is not in constant memory
// A variable of the module with correct results, but in global memory: every warp loads the
// settings like samples.

#include "cuda_device.h"

struct Settings {
    float gain;
    float offset;
    float lowest, highest;
};

__device__ Settings settings;

extern "C" __global__ void amplify(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sample = settings.gain * in[i] + settings.offset;
    out[i] = fminf(fmaxf(sample, settings.lowest), settings.highest);
}
