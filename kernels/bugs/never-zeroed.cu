// Results that are added to what is there, and nothing is there yet. The mistake is the host's:
// new memory is not zero, somebody has to set it.

#include "cuda_device.h"

extern "C" __global__ void never_zeroed(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] += in[i]; // BUG: init
    }
}
