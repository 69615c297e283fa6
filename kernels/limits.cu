// How fast the hardware is, for what a ladder of kernels is measured by.
//
//   fp32_rate   fused multiply-adds and nothing else: eight chains a thread, so that
//               none waits for the one before, and no memory until the end
//
// (The limit of a kernel bound by memory is a copy, which takes no kernel.)
//
// Run it:  cargo run -p matmul-tiled -- --variant ladder

#include "cuda_device.h"

#define CHAINS 8

extern "C" __global__ void fp32_rate(float *sums, unsigned int rounds) {
    float chain[CHAINS];
    // None begins at 2, where it would stay, as the compiler sees.
#pragma unroll
    for (int i = 0; i < CHAINS; i++) chain[i] = i + 3;
#pragma unroll 16
    for (unsigned int round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < CHAINS; i++) chain[i] = fmaf(chain[i], 0.5f, 1.0f);
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; i++) sum += chain[i];
    sums[threadIdx.x + blockIdx.x * blockDim.x] = sum;
}
