// Converts a colour image to grey.
//
// `image` is in pitched memory: a row starts `pitch` bytes after the one before it.
// A pixel has 12 bytes, and the pitch need not be a multiple of 12. `grey` is
// linear: rows of `width` floats without padding. Launched with blocks of 16x16
// threads, one thread per pixel.

#include "cuda_device.h"

struct Pixel {
    float red, green, blue;
};

extern "C" __global__ void to_grey(const Pixel *image, size_t pitch, float *grey, int width,
                                   int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    // The pitch is in bytes, so it is added to a byte pointer.
    const Pixel *row = (const Pixel *)((const char *)image + y * pitch);
    grey[y * width + x] = 0.25f * row[x].red + 0.5f * row[x].green + 0.25f * row[x].blue;
}
