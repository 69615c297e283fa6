// A histogram for each warp, without shared atomics.
// no atomics in shared memory: a histogram per warp, equal values counted by __match_any_sync
#include "cuda_device.h"
extern "C" __global__ void histogram(const unsigned char *values, unsigned int *counts, int n) {
    __shared__ unsigned int own[8][256];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int b = lane; b < 256; b += 32) own[warp][b] = 0;
    __syncwarp();
    const int step = gridDim.x * blockDim.x;
    for (int base = blockIdx.x * blockDim.x + threadIdx.x - lane; base < n; base += step) {
        const int i = base + lane;
        const unsigned v = i < n ? values[i] : 256u;
        const unsigned same = __match_any_sync(0xffffffffu, v);
        if (v < 256u && lane == __ffs(same) - 1) own[warp][v] += __popc(same);
        __syncwarp();
    }
    __syncthreads();
    unsigned total = 0;
    for (int w = 0; w < 8; ++w) total += own[w][threadIdx.x];
    if (total) atomicAdd(counts + threadIdx.x, total);
}
