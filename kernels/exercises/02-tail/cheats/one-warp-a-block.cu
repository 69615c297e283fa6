// Rejected at: time
// Says: times the solution's time
// One warp of each block does the work of four.
#include "cuda_device.h"
extern "C" __global__ void fade(float *samples, float gain, int count) {
    if (threadIdx.x >= 32) return;
    for (int k = threadIdx.x; k < 128; k += 32) {
        int i = blockIdx.x * 128 + k;
        if (i < count) samples[i] *= gain;
    }
}
