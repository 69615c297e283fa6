// Rejected at: counters
// Says: global store sectors: 0, required: exactly 7 680
// Writes columns as before, but with atomics, which are not counted as stores.
#include "cuda_device.h"

extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x >= width || y >= height) return;
    atomicExch((unsigned int *)&out[x * height + y], __float_as_uint(in[y * width + x]));
}
