// Rejected at: checks
// Says: may return an old value
// Reads through the read-only path what another warp of the block has stored.
#include "cuda_device.h"
extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) samples[i] = __ldg(&samples[i]) * gain;
    __syncthreads();
    int j = i + 32;
    if (threadIdx.x < 32 && j < count) {
        float v = __ldg(&samples[j]);
        samples[j] = v;
    }
}
