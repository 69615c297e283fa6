// Every step allocates a new buffer in the same variable, which is freed only once, after
// the last step. The bug is in the host code:
//
//     for (int step = 0; step < 4; step++) {
//         cudaMalloc(&scratch, n * sizeof(float)); // BUG: leak
//         leak_in_loop<<<blocks, threads>>>(scratch, n);
//     }
//     cudaFree(scratch);

#include "cuda_device.h"

extern "C" __global__ void leak_in_loop(float *scratch, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scratch[i] = i;
}
