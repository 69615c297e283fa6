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
    // TODO: (x, y) of the rectangle is (left + x, top + y) of the image. Both have padded rows.
    part[y * width + x] = picture[(top + y) * width + left + x];
}
