// Rejected at: right
// Says: 126 of the 135 elements of `grey` are wrong
// Converts the pitch to pixels, as is possible with floats. A pixel has 12 bytes, and 512 is not a
// multiple of 12: the remainder is lost in every row.

#include "cuda_device.h"

struct Pixel {
    float red, green, blue;
};

extern "C" __global__ void to_grey(const Pixel *image, size_t pitch, float *grey, int width,
                                   int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const Pixel *row = image + y * (pitch / sizeof(Pixel));
    grey[y * width + x] = 0.25f * row[x].red + 0.5f * row[x].green + 0.25f * row[x].blue;
}
