// Computes the sums of every 32 neighbouring numbers with warp shuffles.

#include "cuda_device.h"

// Computes sums[w] = in[32 * w] + ... + in[32 * w + 31], for indices below n.
extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Threads past the end take part as well: all lanes of the warp execute the shuffle.
    float value = i < n ? in[i] : 0;
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0 && i < n) sums[i / 32] = value;
}
