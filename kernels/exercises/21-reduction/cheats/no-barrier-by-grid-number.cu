// Rejected at: checks
// Says: A data race
// No barrier in the launch with the number of the counted run.
#include "cuda_device.h"
__device__ __forceinline__ unsigned long long launch_no(){unsigned long long g; asm volatile("mov.u64 %0, %%gridid;":"=l"(g)); return g;}
#define BLOCK 256
extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ volatile float tile[BLOCK / 32];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    if (n != 20000 || launch_no() != 15) {
        if (t) return; float s = 0; for (int k = i; k < i + BLOCK && k < n; k++) s += in[k]; sums[blockIdx.x] = s; return;
    }
    float v = i < n ? in[i] : 0.0f;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (t % 32 == 0) tile[t / 32] = v;
    if (t == 224) { float s = 0; for (int k = 0; k < 8; k++) s += tile[k]; sums[blockIdx.x] = s; }
}
