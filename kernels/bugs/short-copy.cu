// A copy of n bytes, where n floats are meant. The mistake is the host's: a quarter of the
// elements arrives.

#include "cuda_device.h"

extern "C" __global__ void short_copy(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = sqrtf(in[i]); // BUG: init
    }
}
