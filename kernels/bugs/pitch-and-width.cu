// A kernel that takes width and pitch, and a launch that passes pitch and width: both are
// numbers, so the compiler does not complain. Rows start too close together and are too
// long, and the last one runs past the end.

#include "cuda_device.h"

// Sums one row per thread.
extern "C" __global__ void pitch_and_width(const float *image, size_t width, size_t pitch,
                                           size_t height, float *sums) {
    size_t y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height) return;
    const float *row = (const float *)((const char *)image + y * pitch);
    float sum = 0.0f;
    for (size_t x = 0; x < width; x++) {
        sum += row[x]; // BUG: mem
    }
    sums[y] = sum;
}

extern "C" __global__ void pitch_and_width_right(const float *image, size_t pitch, size_t width,
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
