// Two warps fill a tile and two read it, synchronized by a named barrier. Each side waits at
// a barrier of a different number, so neither waits for the other.

#include "cuda_device.h"

#define HALF 64

__device__ __forceinline__ void wait_at(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}

extern "C" __global__ void wrong_named_barrier(const float *in, float *out) {
    __shared__ float tile[HALF];
    int t = threadIdx.x % HALF;
    if (threadIdx.x < HALF) {
        tile[t] = in[t]; // with this
        wait_at(1, HALF);
    } else {
        wait_at(2, HALF);
        out[t] = tile[HALF - 1 - t]; // BUG: race
    }
}

extern "C" __global__ void wrong_named_barrier_right(const float *in, float *out) {
    __shared__ float tile[HALF];
    int t = threadIdx.x % HALF;
    if (threadIdx.x < HALF) tile[t] = in[t];
    wait_at(1, 2 * HALF);
    if (threadIdx.x >= HALF) out[t] = tile[HALF - 1 - t];
}
