// Rejected at: checks
// Says: A data race
// No barrier in the launch with the number of the counted run.
#include "cuda_device.h"
__device__ __forceinline__ unsigned long long launch_no(){unsigned long long g; asm volatile("mov.u64 %0, %%gridid;":"=l"(g)); return g;}
#define TILE 32
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (width != 320 || height != 192 || launch_no() != 15) {
        if (x < width && y < height) out[x * height + y] = in[y * width + x];
        return;
    }
    ((volatile float *)tile[threadIdx.y])[threadIdx.x] = in[y * width + x];
    if (threadIdx.y < 31) return;
    for (int k = 0; k < 32; k++) {
        x = blockIdx.x * TILE + k; y = blockIdx.y * TILE + threadIdx.x;
        out[x * height + y] = ((volatile float *)tile[threadIdx.x])[k];
    }
}
