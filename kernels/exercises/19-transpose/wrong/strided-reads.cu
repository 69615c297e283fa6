// Rejected at: counters
// Says: global load sectors: 61 440, required: exactly 7 680
// The writes are coalesced now, but the reads are not.

#include "cuda_device.h"

#define TILE 32

extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * TILE + threadIdx.y;
    int y = blockIdx.y * TILE + threadIdx.x;
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}
