// Sums of rows in pitched memory that run up to the pitch instead of the width. The padding
// between the end of a row and the start of the next is undefined; a 2D copy does not fill it.

#include "cuda_device.h"

// Sums one row per thread.
extern "C" __global__ void padding_summed(const float *image, size_t pitch, size_t width,
                                          size_t height, float *sums) {
    size_t y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height) return;
    const float *row = (const float *)((const char *)image + y * pitch);
    float sum = 0.0f;
    for (size_t x = 0; x < pitch / sizeof(float); x++) {
        sum += row[x]; // BUG: init
    }
    sums[y] = sum;
}

extern "C" __global__ void padding_summed_right(const float *image, size_t pitch, size_t width,
                                                size_t height, float *sums) {
    size_t y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height) return;
    const float *row = (const float *)((const char *)image + y * pitch);
    float sum = 0.0f;
    for (size_t x = 0; x < width; x++) {
        sum += row[x];
    }
    sums[y] = sum;
}
