// A tile whose size the launch must give, and a launch that does not. The bug is in the host
// code: without a third argument between <<< and >>> the block has no dynamic shared memory.

#include "cuda_device.h"

extern __shared__ float reversed[];

extern "C" __global__ void dynamic_shared_forgotten(float *data) {
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    reversed[blockDim.x - 1 - t] = data[i]; // BUG: mem
    __syncthreads();
    data[i] = reversed[t];
}
