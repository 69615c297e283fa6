// Rejected at: time
// Says: A GPU is fast where many threads work at the same time
// One warp of the 32 there are does everything.
#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    if (blockIdx.x != 0 || threadIdx.x >= 32) return;
    for (int i = threadIdx.x; i < count; i += 32) out[i] = in[i] * in[i];
}
