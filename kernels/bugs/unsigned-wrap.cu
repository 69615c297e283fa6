// Differences of neighbours, with an unsigned index. The index before 0 wraps around to
// 4294967295, and that element is 16 GB past the start, far beyond the end.

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
