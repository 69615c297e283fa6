// A pointer that nobody gave an address. The mistake is the host's: its allocation failed, or it
// forgot to make one, and nobody looked.

#include "cuda_device.h"

extern "C" __global__ void null_pointer(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] - 1.0f; // BUG: mem
    }
}
