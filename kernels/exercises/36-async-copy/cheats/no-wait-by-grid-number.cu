// Rejected at: checks
// Says: A data race: a write to data that another thread may not have read yet
// Nothing waits for the copies in the launch with the number of the counted run.
#include "async_copy.h"
__device__ __forceinline__ unsigned long long launch_no(){unsigned long long g; asm volatile("mov.u64 %0, %%gridid;":"=l"(g)); return g;}
#define TILE 128
extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float tile[2][TILE];
    const float *own = in + blockIdx.x * tiles * TILE;
    int t = threadIdx.x; float sum = 0;
    if (tiles != 64 || launch_no() != 15) { for (int k = 0; k < tiles; k++) sum += own[k * TILE + TILE - 1 - t]; out[blockIdx.x * TILE + t] = sum; return; }
    __pipeline_memcpy_async(&tile[0][t], own + t, 4);
    __pipeline_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) __pipeline_memcpy_async(&tile[(k + 1) % 2][t], own + (k + 1) * TILE + t, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[k % 2][TILE - 1 - t];
    }
    out[blockIdx.x * TILE + t] = sum;
}
