// A pitch is a multiple of four bytes here, so it may be counted in floats.
#include "cuda_device.h"

extern "C" __global__ void cut(const float *picture, size_t picture_pitch, float *part,
                               size_t part_pitch, int left, int top, int width, int height) {
    size_t from = picture_pitch / sizeof(float), to = part_pitch / sizeof(float);
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y) {
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < width; x += gridDim.x * blockDim.x) {
            part[y * to + x] = picture[(top + y) * from + left + x];
        }
    }
}
