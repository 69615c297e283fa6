// The host's array is passed instead of its copy on the device. The bug is in the host code:
// the compiler cannot tell the two addresses apart.

#include "cuda_device.h"

extern "C" __global__ void host_pointer(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] + 1.0f; // BUG: mem
    }
}
