// A filter: every result is a weighted sum of TAPS inputs. All threads of a block iterate
// over the weights together, and each reads the input that belongs to the weight.

#include "cuda_device.h"

// Threads per block.
#define BLOCK 128
#define TAPS 32

__constant__ int weights[TAPS];

// Computes out[i] = weights[0] * in[i] + ... + weights[TAPS - 1] * in[i + TAPS - 1] for i <
// n; `in` has n + TAPS - 1 elements.
extern "C" __global__ void filter(const int *in, int *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int k = 0; k < TAPS; k++) sum += weights[k] * in[i + k];
    out[i] = sum;
}
