// Rejected at: launch
// Says: never written
// The number of iterations is rounded down, so the remainder is not processed.

#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    int threads = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (count < threads && i < count) out[i] = in[i] * in[i];
    for (int round = 0; round < count / threads; ++round) {
        int j = round * threads + i;
        out[j] = in[j] * in[j];
    }
}
