// Rejected at: checks
// Says: A race: blocks use the same device memory, and one writes
// Goes on by a block's threads in place of the grid's: all blocks do the same work over
// again, and write the same elements.

#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x) {
        out[i] = in[i] * in[i];
    }
}
