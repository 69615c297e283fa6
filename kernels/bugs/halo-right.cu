// A three-point stencil in which every thread reads its right neighbour. The right
// neighbour of the last point is past the end of the array.

#include "cuda_device.h"

extern "C" __global__ void halo_right(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) {
        out[i] = in[i - 1] - 2.0f * in[i] + in[i + 1]; // BUG: mem
    }
}

extern "C" __global__ void halo_right_right(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) {
        out[i] = in[i - 1] - 2.0f * in[i] + in[i + 1];
    }
}
