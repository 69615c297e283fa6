// Rejected at: launch
// Says: in one order of blocks and warps
// Takes the number of the multiprocessor for that of the block.
#include "cuda_device.h"
extern "C" __global__ void squares(const float *in, float *out, int count) {
    unsigned int sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    int threads = gridDim.x * blockDim.x;
    for (int i = sm * blockDim.x + threadIdx.x; i < count; i += threads) out[i] = in[i] * in[i];
}
