// A filter: every result is a weighted sum of TAPS inputs. All threads of a block iterate
// over the inputs together, and each looks up the weight that belongs to the input.

#include "cuda_device.h"

// Threads per block.
#define BLOCK 128
#define TAPS 32

__constant__ int weights[TAPS];

// Computes out[i] = weights[0] * in[i] + ... + weights[TAPS - 1] * in[i + TAPS - 1] for i <
// n; `in` has n + TAPS - 1 elements.
extern "C" __global__ void filter(const int *in, int *out, int n) {
    int first = blockIdx.x * BLOCK;
    int i = first + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    // TODO: here a warp reads one input and 32 weights at a time. Swap the roles.
    for (int j = first; j < min(first + BLOCK, n) + TAPS - 1; j++) {
        int k = j - i;
        if (k >= 0 && k < TAPS) sum += weights[k] * in[j];
    }
    out[i] = sum;
}
