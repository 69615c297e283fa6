// Rejected at: launch
// Says: never written
// One warp of each block works, and eight blocks are assumed.
#include "cuda_device.h"
extern "C" __global__ void squares(const float *in, float *out, int count) {
    if (threadIdx.x >= 32) return;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < count; i += 256) out[i] = in[i] * in[i];
}
