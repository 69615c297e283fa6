// A picture in colour becomes one in grey.
//
// `image` is in pitched memory: a row starts `pitch` bytes after the one before it. A pixel
// has 12 bytes, of which no pitch need be a multiple. `grey` is linear: `width` floats a
// row, one row right after the other. Launched with blocks of 16x16 threads, one thread a
// pixel.

#include "cuda_device.h"

struct Pixel {
    float red, green, blue;
};

extern "C" __global__ void to_grey(const Pixel *image, size_t pitch, float *grey, int width,
                                   int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    // The pitch is in bytes, and so is what it is added to.
    const Pixel *row = (const Pixel *)((const char *)image + y * pitch);
    grey[y * width + x] = 0.25f * row[x].red + 0.5f * row[x].green + 0.25f * row[x].blue;
}
