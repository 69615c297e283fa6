// Computes differences of neighbours. A block loads a chunk of the array into shared memory,
// computes from there, and continues with its next chunk.

#include "cuda_device.h"

// Threads per block, and elements per chunk.
#define BLOCK 256

// Computes out[i] = in[i + 1] - in[i] for i < n; `in` has n + 1 elements. Works for any number of blocks.
extern "C" __global__ void differences(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK + 1];
    int t = threadIdx.x;
    // TODO: the results are correct, and yet something is missing in this loop.
    for (int first = blockIdx.x * BLOCK; first < n; first += gridDim.x * BLOCK) {
        int i = first + t;
        if (i <= n) tile[t] = in[i];
        if (t == BLOCK - 1 && i < n) tile[BLOCK] = in[i + 1];
        __syncthreads();
        if (i < n) out[i] = tile[t + 1] - tile[t];
    }
}
