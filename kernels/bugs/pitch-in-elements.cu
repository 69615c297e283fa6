// The pitch is in bytes, but this kernel uses it as a number of elements. The second row is
// four rows too far on, and later rows are soon past the end.

#include "cuda_device.h"

extern "C" __global__ void pitch_in_elements(float *image, size_t pitch, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    image[y * pitch + x] = x + y; // BUG: mem
}

extern "C" __global__ void pitch_in_elements_right(float *image, size_t pitch, int width,
                                                   int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    ((float *)((char *)image + y * pitch))[x] = x + y;
}
