// A pointer that was never assigned an address. The bug is in the host code: its allocation
// failed or was forgotten, and no one checked the error.

#include "cuda_device.h"

extern "C" __global__ void null_pointer(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] - 1.0f; // BUG: mem
    }
}
