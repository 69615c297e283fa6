// Rejected at: counters
// Says: global load requests: 512, required: at most 288
// Without shared memory there is no data race, but every element is loaded twice.

#include "cuda_device.h"

extern "C" __global__ void differences(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += gridDim.x * blockDim.x) out[i] = in[i + 1] - in[i];
}
