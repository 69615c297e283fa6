// A warp for each row, with expf.
#include "cuda_device.h"
extern "C" __global__ void softmax(const float *in, float *out, int columns) {
    if (threadIdx.x >= 32) return;
    const float *r = in + blockIdx.x * columns;
    float *o = out + blockIdx.x * columns;
    float m = -3e38f, s = 0;
    for (int i = threadIdx.x; i < columns; i += 32) m = fmaxf(m, r[i]);
    for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    for (int i = threadIdx.x; i < columns; i += 32) s += expf(r[i] - m);
    for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    for (int i = threadIdx.x; i < columns; i += 32) o[i] = expf(r[i] - m) / s;
}