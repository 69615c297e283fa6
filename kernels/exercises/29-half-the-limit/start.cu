// Computes sums of nine neighbours, eight results per thread: each thread processes a
// contiguous range, as a core of a CPU would.

#include "cuda_device.h"

// Threads per block, and results per thread.
#define BLOCK 256
#define POINTS 8
// Number of terms of a sum.
#define WIDTH 9

// Computes out[i] = in[i] + ... + in[i + WIDTH - 1] for i < n; `in` has n + WIDTH - 1
// elements. A block computes BLOCK * POINTS results. Both arrays are aligned to 256 bytes.
extern "C" __global__ void sums(const float *in, float *out, int n) {
    int first = (blockIdx.x * BLOCK + threadIdx.x) * POINTS;
    // TODO: which addresses does a warp read at a time, and which should it read?
    for (int p = 0; p < POINTS; p++) {
        int i = first + p;
        if (i >= n) return;
        float sum = 0.0f;
        for (int k = 0; k < WIDTH; k++) sum += in[i + k];
        out[i] = sum;
    }
}
