// Rejected at: launch
// Says: wrote nothing to `out`
// The last block has no results if it is full.
// Computes sums of nine neighbours, eight results per thread: a block processes its range
// together, four adjacent results per thread at a time, whose inputs take three loads of 16 bytes.

#include "cuda_device.h"

// Threads per block, and results per thread.
#define BLOCK 256
#define POINTS 8
// Number of terms of a sum.
#define WIDTH 9

// Computes out[i] = in[i] + ... + in[i + WIDTH - 1] for i < n; `in` has n + WIDTH - 1
// elements. A block computes BLOCK * POINTS results. Both arrays are aligned to 256 bytes.
extern "C" __global__ void sums(const float *in, float *out, int n) {
    int end = blockIdx.x == gridDim.x - 1 ? blockIdx.x * 2048 + n % 2048 : blockIdx.x * 2048 + 2048;
    for (int p = 0; p < POINTS / 4; p++) {
        int i = 4 * ((blockIdx.x * (POINTS / 4) + p) * BLOCK + threadIdx.x);
        if (i + 4 <= end) {
            float numbers[12];
            for (int v = 0; v < 3; v++) {
                float4 four = *(const float4 *)&in[i + 4 * v];
                numbers[4 * v] = four.x;
                numbers[4 * v + 1] = four.y;
                numbers[4 * v + 2] = four.z;
                numbers[4 * v + 3] = four.w;
            }
            // Adds up the terms that all four sums have in common only once.
            float common = 0.0f;
            for (int k = 3; k < WIDTH; k++) common += numbers[k];
            float first = numbers[0] + numbers[1] + numbers[2];
            float second = numbers[1] + numbers[2] + numbers[9];
            float third = numbers[2] + numbers[9] + numbers[10];
            float fourth = numbers[9] + numbers[10] + numbers[11];
            *(float4 *)&out[i] =
                make_float4(common + first, common + second, common + third, common + fourth);
        } else {
            for (; i < end; i++) {
                float sum = 0.0f;
                for (int k = 0; k < WIDTH; k++) sum += in[i + k];
                out[i] = sum;
            }
        }
    }
}
