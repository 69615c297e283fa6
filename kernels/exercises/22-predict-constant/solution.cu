// Four kernels that read a table in constant memory, and how often each of their warps asks for it.

#include "cuda_device.h"

// Constant requests a warp.
__constant__ unsigned int predicted[4] = {
    1,  // by_block: one address for all
    32, // by_thread: 32 addresses, and that they are neighbours does not help
    2,  // by_row: rows have 16 threads, so a warp is two of them
    8,  // far_apart: eight addresses, and that they are far apart does not hurt
};

// The host fills it with random numbers.
__constant__ int table[1024];

// Blocks are 16 x 16 threads. This is a thread's number in its block: 32 in a row are a warp.
__device__ __forceinline__ int number() { return threadIdx.y * 16 + threadIdx.x; }

__device__ __forceinline__ void store(int *out, int value) {
    out[blockIdx.x * 256 + number()] = value;
}

extern "C" __global__ void by_block(int *out) { store(out, table[blockIdx.x]); }
extern "C" __global__ void by_thread(int *out) { store(out, table[number()]); }
extern "C" __global__ void by_row(int *out) { store(out, table[threadIdx.y]); }
extern "C" __global__ void far_apart(int *out) { store(out, table[100 * (number() % 8)]); }
