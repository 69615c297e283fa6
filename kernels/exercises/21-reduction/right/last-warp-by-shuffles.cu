// Halves in shared memory down to one warp, then shuffles.
#include "cuda_device.h"

extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = i < n ? in[i] : 0.0f;
    for (int half = 128; half >= 32; half /= 2) {
        __syncthreads();
        if (t < half) tile[t] += tile[t + half];
    }
    if (t >= 32) return;
    float sum = tile[t];
    for (int far = 16; far > 0; far /= 2) sum += __shfl_down_sync(~0u, sum, far);
    if (t == 0) sums[blockIdx.x] = sum;
}
