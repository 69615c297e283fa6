// A copy of n bytes instead of n floats. The bug is in the host code: only a quarter
// of the elements is copied.

#include "cuda_device.h"

extern "C" __global__ void short_copy(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = sqrtf(in[i]); // BUG: init
    }
}
