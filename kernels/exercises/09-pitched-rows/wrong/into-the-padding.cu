// Rejected at: right
// Says: behind the end of row 0 of `part` were overwritten
// Mistakes the pitch for the width and writes to the padding.

#include "cuda_device.h"

extern "C" __global__ void cut(const float *picture, size_t picture_pitch, float *part,
                               size_t part_pitch, int left, int top, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= part_pitch / sizeof(float) || y >= height) return;
    const float *from = (const float *)((const char *)picture + (top + y) * picture_pitch);
    float *to = (float *)((char *)part + y * part_pitch);
    to[x] = from[left + x];
}
