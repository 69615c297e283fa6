// Rejected at: time
// Says: one thread, one warp of a block or one block
// The first block does all of the work; the others poll the clock meanwhile to look busy.
#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    if (blockIdx.x != 0) {
        for (int k = 0; k < 1500; k++) (void)clock64();
        return;
    }
    for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = in[i] * in[i];
}
