// Neighbouring threads have neighbouring results; shared inputs come from the L1 cache.
#include "cuda_device.h"

#define BLOCK 256
#define POINTS 8

extern "C" __global__ void sums(const float *in, float *out, int n) {
    int first = blockIdx.x * BLOCK * POINTS + threadIdx.x;
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
        int i = first + p * BLOCK;
        if (i >= n) return;
        float sum = 0.0f;
        for (int k = 0; k < 9; k++) sum += in[i + k];
        out[i] = sum;
    }
}
