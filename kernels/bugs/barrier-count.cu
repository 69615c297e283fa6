// A barrier with a thread count, in a kernel that synchronizes 48 of its threads. Barriers
// count whole warps, so the count must be a multiple of 32.

#include "cuda_device.h"

extern "C" __global__ void barrier_count(const float *in, float *out, int threads) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    asm volatile("bar.sync 1, %0;" : : "r"(threads) : "memory"); // BUG: sync
    out[t] = tile[63 - t];
}

extern "C" __global__ void barrier_count_right(const float *in, float *out, int threads) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    asm volatile("bar.sync 1, %0;" : : "r"((threads + 31) / 32 * 32) : "memory");
    out[t] = tile[63 - t];
}
