// A vector load of four floats from the second element of an array on. A 16-byte load must
// start at a multiple of 16 bytes; these start at byte 4.

#include "cuda_device.h"

// Processes `in` without its first element: 4 * n floats remain.
extern "C" __global__ void misaligned_float4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = ((const float4 *)(in + 1))[i]; // BUG: mem
    out[i] = v.x + v.y + v.z + v.w;
}

extern "C" __global__ void misaligned_float4_right(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float *v = in + 1 + 4 * i;
    out[i] = v[0] + v[1] + v[2] + v[3];
}
