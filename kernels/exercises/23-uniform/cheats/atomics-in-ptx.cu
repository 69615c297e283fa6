// Rejected at: launch, compile
// Says: a store or an atomic through a pointer to a `__constant__` variable
// As atomics.cu, but in PTX, which the compiler does not analyse.
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
        asm volatile("atom.or.b32 %0, [%1], 0;" : "=r"(weight) : "l"(&weights[k]));
        asm volatile("atom.or.b32 %0, [%1], 0;" : "=r"(number) : "l"(&in[j]));
        sum += weight * number;
    }
    out[i] = sum;
}
