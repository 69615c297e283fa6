// The barrier is at the start of an iteration instead of its end.
#include "cuda_device.h"

#define BLOCK 256

extern "C" __global__ void differences(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK + 1];
    int t = threadIdx.x;
    for (int first = blockIdx.x * BLOCK; first < n; first += gridDim.x * BLOCK) {
        int i = first + t;
        __syncthreads();
        if (i <= n) tile[t] = in[i];
        if (t == 0 && first + BLOCK <= n) tile[BLOCK] = in[first + BLOCK];
        __syncthreads();
        if (i < n) out[i] = tile[t + 1] - tile[t];
    }
}
