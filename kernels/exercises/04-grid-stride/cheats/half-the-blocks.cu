// Rejected at: launch
// Says: never written
// Every second block is idle, and eight blocks are assumed.
#include "cuda_device.h"
extern "C" __global__ void squares(const float *in, float *out, int count) {
    if (blockIdx.x & 1) return;
    for (int i = blockIdx.x / 2 * 128 + threadIdx.x; i < count; i += 512) out[i] = in[i] * in[i];
}
