// Rejected at: counters
// Says: global atomic requests + global reduction requests + shared atomic requests: 3 125,
#include "cuda_device.h"

extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 32 == 0 && i < n) sums[i / 32] = 0;
    __syncwarp();
    if (i < n) atomicAdd(&sums[i / 32], in[i]);
}
