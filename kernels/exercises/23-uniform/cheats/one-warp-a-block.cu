// Rejected at: time
// Says: times the solution's time
// One warp of each block does the work of four.
#include "cuda_device.h"
#define BLOCK 128
#define TAPS 32
__constant__ int weights[TAPS];
extern "C" __global__ void filter(const int *in, int *out, int n) {
    if (blockIdx.x % 2 || threadIdx.x >= 32) return;
    for (int j = threadIdx.x; j < 256; j += 32) {
        int i = blockIdx.x * BLOCK + j;
        if (i >= n) return;
        int sum = 0;
        for (int k = 0; k < TAPS; k++) sum += weights[k] * in[i + k];
        out[i] = sum;
    }
}
