// Rejected at: right
// Says: `by_thread`: you predicted 4, which is wrong.
// Counts sectors of 32 bytes, which apply to global memory.

#include "cuda_device.h"

__constant__ unsigned int predicted[4] = {
    1, 4, 1, 8,
};

// Table that the host fills with random numbers.
__constant__ int table[1024];

// Returns a thread's index in its block of 16 x 16 threads: 32 consecutive ones are a warp.
__device__ __forceinline__ int number() { return threadIdx.y * 16 + threadIdx.x; }

__device__ __forceinline__ void store(int *out, int value) {
    out[blockIdx.x * 256 + number()] = value;
}

extern "C" __global__ void by_block(int *out) { store(out, table[blockIdx.x]); }
extern "C" __global__ void by_thread(int *out) { store(out, table[number()]); }
extern "C" __global__ void by_row(int *out) { store(out, table[threadIdx.y]); }
extern "C" __global__ void far_apart(int *out) { store(out, table[100 * (number() % 8)]); }
