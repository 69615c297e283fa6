// Computes differences of neighbours. A block loads a chunk of the array into shared memory,
// computes from there, and continues with its next chunk.

#include "cuda_device.h"

// Threads per block, and elements per chunk.
#define BLOCK 256

// Computes out[i] = in[i + 1] - in[i] for i < n; `in` has n + 1 elements. Works for any number of blocks.
extern "C" __global__ void differences(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK + 1];
    int t = threadIdx.x;
    for (int first = blockIdx.x * BLOCK; first < n; first += gridDim.x * BLOCK) {
        int i = first + t;
        if (i <= n) tile[t] = in[i];
        if (t == BLOCK - 1 && i < n) tile[BLOCK] = in[i + 1];
        // No thread may read before all have written ...
        __syncthreads();
        if (i < n) out[i] = tile[t + 1] - tile[t];
        // ... and no thread may write the next chunk before all have read this one.
        __syncthreads();
    }
}
