// Results are added to memory that is never initialized. The bug is in the host code:
// allocated memory is not zero until the program sets it.

#include "cuda_device.h"

extern "C" __global__ void never_zeroed(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] += in[i]; // BUG: init
    }
}
