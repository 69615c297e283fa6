// Squares of many elements by few threads.
//
// Launched with 8 blocks of 128 threads, whatever `count` is.

#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    // The whole grid goes on by as many elements as it has threads, so that neighbouring
    // threads always have neighbouring elements.
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        out[i] = in[i] * in[i];
    }
}
