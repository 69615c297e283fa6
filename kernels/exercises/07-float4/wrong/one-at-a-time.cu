// Rejected at: counters
// Says: global load requests: 3 126, required: at most 785
// Neighbouring threads process neighbouring samples, which reads each sector once, but the
// number of requests is unchanged.

#include "cuda_device.h"

extern "C" __global__ void clip_all(const float *in, float *out, float level, int count) {
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        out[i] = fminf(fmaxf(in[i], -level), level);
    }
}
