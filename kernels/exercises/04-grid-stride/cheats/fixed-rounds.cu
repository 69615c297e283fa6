// Rejected at: launch
// Says: never written
// Always makes 147 rounds, and assumes eight blocks.
#include "cuda_device.h"
extern "C" __global__ void squares(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < 147; r++, i += 1024)
        if (i < count) out[i] = in[i] * in[i];
}
