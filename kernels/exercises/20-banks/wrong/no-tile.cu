// Rejected at: counters
// Says: global store sectors: 61 440, required: exactly 7 680
// Without shared memory there are no bank conflicts, but the writes are strided again.

#include "cuda_device.h"

#define TILE 32

extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}
