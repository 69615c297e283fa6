// Rejected at: right
// Says: The only element of `part` is wrong
// Uses one pitch for both buffers, as if the part were as wide as the image.

#include "cuda_device.h"

extern "C" __global__ void cut(const float *picture, size_t picture_pitch, float *part,
                               size_t part_pitch, int left, int top, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float *from = (const float *)((const char *)picture + (top + y) * part_pitch);
    float *to = (float *)((char *)part + y * part_pitch);
    to[x] = from[left + x];
}
