// Rejected at: launch
// Says: did not write the only element of
// Uses vectors but forgets the remainder at the end.

#include "cuda_device.h"

// Threads per block, and results per thread.
#define BLOCK 256
#define POINTS 8
// Number of terms of a sum.
#define WIDTH 9

// Computes out[i] = in[i] + ... + in[i + WIDTH - 1] for i < n; `in` has n + WIDTH - 1
// elements. A block computes BLOCK * POINTS results. Both arrays are aligned to 256 bytes.
extern "C" __global__ void sums(const float *in, float *out, int n) {
    for (int p = 0; p < POINTS / 4; p++) {
        int i = 4 * ((blockIdx.x * (POINTS / 4) + p) * BLOCK + threadIdx.x);
        if (i + 4 > n) return;
        float results[4];
        for (int r = 0; r < 4; r++) {
            results[r] = 0.0f;
            for (int k = 0; k < WIDTH; k++) results[r] += in[i + r + k];
        }
        *(float4 *)&out[i] = make_float4(results[0], results[1], results[2], results[3]);
    }
}
