// Rejected at: right
// Says: wrong
// Computes in int.
#include "cuda_device.h"
extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < n ? in[i] : 0;
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0 && i < n) sums[i / 32] = value;
}
