// A three-point stencil that loads the left end of its halo without a bounds check. The
// first thread of the first block reads the element before the array.

#include "cuda_device.h"

#define BLOCK_SIZE 64

extern "C" __global__ void halo_left(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK_SIZE + 2];
    int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    int t = threadIdx.x + 1;
    tile[t] = i < n ? in[i] : 0.0f;
    if (threadIdx.x == 0) {
        tile[0] = in[i - 1]; // BUG: mem
        tile[BLOCK_SIZE + 1] = i + BLOCK_SIZE < n ? in[i + BLOCK_SIZE] : 0.0f;
    }
    __syncthreads();
    if (i < n) out[i] = tile[t - 1] - 2.0f * tile[t] + tile[t + 1];
}

extern "C" __global__ void halo_left_right(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK_SIZE + 2];
    int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    int t = threadIdx.x + 1;
    tile[t] = i < n ? in[i] : 0.0f;
    if (threadIdx.x == 0) {
        tile[0] = i > 0 ? in[i - 1] : 0.0f;
        tile[BLOCK_SIZE + 1] = i + BLOCK_SIZE < n ? in[i + BLOCK_SIZE] : 0.0f;
    }
    __syncthreads();
    if (i < n) out[i] = tile[t - 1] - 2.0f * tile[t] + tile[t + 1];
}
