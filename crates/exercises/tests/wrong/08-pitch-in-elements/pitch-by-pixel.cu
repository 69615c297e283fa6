// Rejected at: right
// Says: 126 of the 135 elements of `grey` are wrong
// Turns the pitch into pixels, as one may with floats. A pixel has 12 bytes, which 512 is no
// multiple of: what is left over is lost, row after row.

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
