#include "cuda_device.h"

extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? in[i] : 0, sum = 0;
    for (int lane = 0; lane < 32; ++lane) sum += __shfl_sync(0xffffffff, value, lane);
    if (threadIdx.x % 32 == 0 && i < n) sums[i / 32] = sum;
}
