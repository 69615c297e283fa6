// Rejected at: checks, launch
// Says: performs an atomic operation on its input
// Reads the weights through generic addresses, so that no constant requests are counted.
#include "cuda_device.h"

#define BLOCK 128
#define TAPS 32

__constant__ int weights[TAPS];

extern "C" __global__ void filter(const int *in, int *out, int n) {
    int first = blockIdx.x * BLOCK, i = first + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int j = first; j < min(first + BLOCK, n) + TAPS - 1; j++) {
        int k = j - i, weight, number;
        if (k < 0 || k >= TAPS) continue;
        asm volatile("ld.u32 %0, [%1];" : "=r"(weight) : "l"(&weights[k]));
        number = atomicOr((int *)&in[j], 0);
        sum += weight * number;
    }
    out[i] = sum;
}
