// Rejected at: counters
// Says: out of proportion
// Threads go down the columns of high images.
#include "cuda_device.h"
struct Pixel { float red, green, blue; };
extern "C" __global__ void to_grey(const Pixel *image, size_t pitch, float *grey, int width, int height) {
    bool tall = height > width;
    int x = blockIdx.x * blockDim.x + (tall ? threadIdx.y : threadIdx.x);
    int y = blockIdx.y * blockDim.y + (tall ? threadIdx.x : threadIdx.y);
    if (x >= width || y >= height) return;
    const Pixel *row = (const Pixel *)((const char *)image + y * pitch);
    grey[y * width + x] = 0.25f * row[x].red + 0.5f * row[x].green + 0.25f * row[x].blue;
}
