// Copies a rectangle out of an image.
//
// Both images are in pitched memory, each with its own pitch in bytes. Launched with blocks
// of 16x16 threads, one thread per element of the rectangle, which is `width` by `height`.

#include "cuda_device.h"

extern "C" __global__ void cut(const float *picture, size_t picture_pitch, float *part,
                               size_t part_pitch, int left, int top, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float *from = (const float *)((const char *)picture + (top + y) * picture_pitch);
    float *to = (float *)((char *)part + y * part_pitch);
    to[x] = from[left + x];
}
