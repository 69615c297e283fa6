// The block's numbers are in shared memory, and the weights are used in reverse order.
#include "cuda_device.h"

#define BLOCK 128
#define TAPS 32

__constant__ int weights[TAPS];

extern "C" __global__ void filter(const int *in, int *out, int n) {
    __shared__ int numbers[BLOCK + TAPS - 1];
    int first = blockIdx.x * BLOCK, i = first + threadIdx.x;
    for (int t = threadIdx.x; t < BLOCK + TAPS - 1 && first + t < n + TAPS - 1; t += BLOCK) {
        numbers[t] = in[first + t];
    }
    __syncthreads();
    if (i >= n) return;
    int sum = 0;
#pragma unroll 1
    for (int k = TAPS - 1; k >= 0; k--) sum += weights[k] * numbers[threadIdx.x + k];
    out[i] = sum;
}
