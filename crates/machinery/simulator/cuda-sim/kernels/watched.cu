// A kernel that is slow in all blocks, and one that is not in those that the time model usually looks at.
#include "../../../../../kernels/cuda_device.h"

// Each thread reads eight words in a row, of 65,536: eight times the sectors of threads that read neighbours.
__device__ void add_eight(unsigned *out, const unsigned *in) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < 8; ++k) sum += in[8 * i % 65536 + k];
    out[i] = sum;
}

extern "C" __global__ void slow(unsigned *out, const unsigned *in) { add_eight(out, in); }

extern "C" __global__ void slow_elsewhere(unsigned *out, const unsigned *in) {
    unsigned m = blockIdx.x % 132;
    if (m == 0 || m == 64 || m == 128) return;
    add_eight(out, in);
}
