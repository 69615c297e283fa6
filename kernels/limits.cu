// Measures hardware limits that ladders of kernels are compared with.
//
//   fp32_rate   only fused multiply-adds: eight independent chains per thread, so that
//               no instruction waits for the one before, and no memory access until the end
//
// (The limit of a memory-bound kernel is a copy, which needs no kernel.)
//
// Run it:  cargo run -p matmul-tiled -- --variant ladder

#include "cuda_device.h"

#define CHAINS 8

extern "C" __global__ void fp32_rate(float *sums, unsigned int rounds) {
    float chain[CHAINS];
    // No chain starts at 2, the fixed point, which the compiler would recognize.
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
