// Sums of rows in pitched memory, up to the pitch and not up to the width. What is between the
// end of a row and the start of the next belongs to nobody, and a copy of rows leaves it out.

#include "cuda_device.h"

// One thread a row.
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
