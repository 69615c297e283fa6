// The predictions are in a __device__ array; the exercise does not require constant memory.
#include "cuda_device.h"

__device__ unsigned int predicted[4] = {1, 32, 2, 8};
__constant__ int table[1024];

__device__ __forceinline__ int number() { return threadIdx.y * 16 + threadIdx.x; }

extern "C" __global__ void by_block(int *out) {
    out[blockIdx.x * 256 + number()] = table[blockIdx.x];
}
extern "C" __global__ void by_thread(int *out) {
    out[blockIdx.x * 256 + number()] = table[number()];
}
extern "C" __global__ void by_row(int *out) {
    out[blockIdx.x * 256 + number()] = table[threadIdx.y];
}
extern "C" __global__ void far_apart(int *out) {
    out[blockIdx.x * 256 + number()] = table[100 * (number() % 8)];
}
