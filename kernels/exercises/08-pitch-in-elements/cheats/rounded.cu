// Rejected at: right
// Says: elements of `grey` are wrong
// Rounds the results to a multiple of 2^-20.
#include "cuda_device.h"
struct Pixel { float red, green, blue; };
extern "C" __global__ void to_grey(const Pixel *image, size_t pitch, float *grey, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const Pixel *row = (const Pixel *)((const char *)image + y * pitch);
    grey[y * width + x] = rintf(1048576.0f * (0.25f * row[x].red + 0.5f * row[x].green + 0.25f * row[x].blue)) / 1048576.0f;
}
