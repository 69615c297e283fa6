// A launch with a buffer that has been freed. The bug is in the host code, but
// it shows up in the kernel.

#include "cuda_device.h"

extern "C" __global__ void use_after_free(float *data, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] *= factor; // BUG: mem
    }
}
