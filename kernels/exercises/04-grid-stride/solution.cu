// Squares many elements with few threads.
//
// Launched with 3 to 98 blocks of 128 threads, whatever `count` is.

#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    // A grid-stride loop: the step is the number of threads in the grid, so that neighbouring
    // threads always process neighbouring elements.
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        out[i] = in[i] * in[i];
    }
}
