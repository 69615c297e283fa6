// Differences of neighbours, with an unsigned index. Before 0 comes 4294967295, and that element
// is far past the end: 16 GB.

#include "cuda_device.h"

extern "C" __global__ void unsigned_wrap(const float *in, float *out, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] - in[i - 1]; // BUG: mem
    }
}

extern "C" __global__ void unsigned_wrap_right(const float *in, float *out, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = i == 0 ? in[i] : in[i] - in[i - 1];
    }
}
