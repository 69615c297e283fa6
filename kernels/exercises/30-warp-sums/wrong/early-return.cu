// Rejected at: right
// Says: A mask with lanes that do not arrive
// Threads past the end return, but the others read their values.
#include "cuda_device.h"

extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = in[i];
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0) sums[i / 32] = value;
}
