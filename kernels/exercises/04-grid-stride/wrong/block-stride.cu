// Rejected at: checks
// Says: A data race: blocks access the same device memory, and one writes
// The stride is the number of threads of a block instead of the grid: all blocks repeat the same
// work and write the same elements.

#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x) {
        out[i] = in[i] * in[i];
    }
}
