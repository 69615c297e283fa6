// Rejected at: counters
// Says: global load sectors: 100 000, required: from 12 500 to 15 640
// Every thread has a contiguous range, as on a CPU: correct, but neighbouring threads are
// far apart, so each thread of a warp accesses a separate sector.

#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    int threads = gridDim.x * blockDim.x;
    int share = (count + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * share;
    for (int i = first; i < first + share && i < count; ++i) out[i] = in[i] * in[i];
}
