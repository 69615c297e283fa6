// Processes elements in reverse; the accesses are still coalesced.
#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    int i = count - 1 - (int)(blockIdx.x * blockDim.x + threadIdx.x);
    while (i >= 0) {
        float x = in[i];
        out[i] = x * x;
        i -= (int)(gridDim.x * blockDim.x);
    }
}
