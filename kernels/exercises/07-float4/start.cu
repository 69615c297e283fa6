// Clips a recording: limits samples louder than `level` to that level.
//
// Launched with blocks of 256 threads, one thread per four samples, rounded up. `in` and
// `out` are aligned to 256 bytes. `count` need not be a multiple of four.

#include "cuda_device.h"

__device__ float clip(float sample, float level) {
    return fminf(fmaxf(sample, -level), level);
}

extern "C" __global__ void clip_all(const float *in, float *out, float level, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: these four samples are adjacent. Load and store them as one vector.
    for (int j = 4 * i; j < 4 * i + 4 && j < count; ++j) {
        out[j] = clip(in[j], level);
    }
}
