// Rejected at: counters
// Says: global load sectors: 5 000, required: from 2 500 to 3 125
// One thread sums 256 numbers, four at a time; the others write values that are never read.
#include "cuda_device.h"

extern "C" __global__ void block_sums(const float *in, float *sums, int n) {
    __shared__ volatile float unused[256];
    unused[threadIdx.x] = 0.0f;
    if (threadIdx.x != 0) return;
    int first = blockIdx.x * 256, end = min(n, first + 256);
    float sum = 0.0f;
    for (int i = first; i + 4 <= end; i += 4) {
        float4 four = *(const float4 *)&in[i];
        sum += four.x + four.y + four.z + four.w;
    }
    for (int i = end / 4 * 4; i < end; i++) sum += in[i];
    sums[blockIdx.x] = sum;
}
