// A kernel to measure: one warp executes `rounds` dependent multiply-adds, each of which
// waits for the result of the one before it.

#include "cuda_device.h"

extern "C" __global__ void work(float *out, unsigned int rounds) {
    float x = threadIdx.x;
    for (unsigned int round = 0; round < rounds; round++) x = fmaf(x, 0.5f, 1.0f);
    out[threadIdx.x] = x;
}
