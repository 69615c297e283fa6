// Rejected at: counters
// Says: global load requests: 3 126, asked: at most 785
// Neighbouring threads take neighbouring samples, which fetches each sector once; but there
// are as many requests as before.

#include "cuda_device.h"

extern "C" __global__ void clip_all(const float *in, float *out, float level, int count) {
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        out[i] = fminf(fmaxf(in[i], -level), level);
    }
}
