// `memcpy` between elements.
#include "cuda_device.h"
#include <string.h>
extern "C" __global__ void cut(const float *picture, size_t picture_pitch, float *part,
                               size_t part_pitch, int left, int top, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float *from = (const float *)((const char *)picture + (size_t)(top + y) * picture_pitch);
    float *to = (float *)((char *)part + (size_t)y * part_pitch);
    memcpy(&to[x], &from[left + x], sizeof(float));
}
