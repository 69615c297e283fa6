// Rejected at: right, launch
// Says: 126 of the 135 elements of `grey` are wrong
// Computes the pitch from the width, with the usual rounding of GPUs, instead of using the parameter.
#include "cuda_device.h"

struct Pixel {
    float red, green, blue;
};

extern "C" __global__ void to_grey(const Pixel *image, size_t pitch, float *grey, int width,
                                   int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    size_t row_bytes = (width * sizeof(Pixel) + 511) / 512 * 512;
    const Pixel *row = (const Pixel *)((const char *)image + y * row_bytes);
    grey[y * width + x] = 0.25f * row[x].red + 0.5f * row[x].green + 0.25f * row[x].blue;
}
