// Rejected at: counters
// Says: The weights must stay in constant memory.
// The block copies the weights to shared memory, where each thread starts with another one.
#include "cuda_device.h"

#define BLOCK 128
#define TAPS 32

__constant__ int weights[TAPS];

extern "C" __global__ void filter(const int *in, int *out, int n) {
    __shared__ int numbers[BLOCK + TAPS - 1], copy[TAPS];
    int t = threadIdx.x, first = blockIdx.x * BLOCK;
    for (int k = t; k < BLOCK + TAPS - 1 && first + k < n + TAPS - 1; k += BLOCK) {
        numbers[k] = in[first + k];
    }
    if (t < TAPS) copy[t] = weights[t];
    __syncthreads();
    if (first + t >= n) return;
    int sum = 0;
    for (int k = t; k < t + TAPS; k++) sum += copy[k % TAPS] * numbers[t + k % TAPS];
    out[first + t] = sum;
}
