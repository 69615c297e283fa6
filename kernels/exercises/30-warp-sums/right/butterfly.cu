#include "cuda_device.h"

extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? in[i] : 0;
    for (int mask = 1; mask < 32; mask *= 2) value += __shfl_xor_sync(~0u, value, mask);
    // All 32 threads have the sum.
    if (threadIdx.x % 32 == 7 % 32 || i == n - 1) {
        if (i / 32 * 32 < n) sums[i / 32] = value;
    }
}
