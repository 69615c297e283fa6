// Rejected at: time
// Says: one thread, one warp of a block or one block
// One of 32 warps does all of the work.
#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    if (blockIdx.x != 0 || threadIdx.x >= 32) return;
    for (int i = threadIdx.x; i < count; i += 32) out[i] = in[i] * in[i];
}
