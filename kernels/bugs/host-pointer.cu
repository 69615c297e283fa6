// The array of the host, where its copy on the device is meant. The mistake is the host's: to
// the compiler one address is like another.

#include "cuda_device.h"

extern "C" __global__ void host_pointer(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] + 1.0f; // BUG: mem
    }
}
