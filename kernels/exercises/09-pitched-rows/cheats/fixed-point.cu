// Rejected at: right
// Says: `part`
// Copies whole multiples of a small fraction.
#include "cuda_device.h"
extern "C" __global__ void cut(const float *picture, size_t picture_pitch, float *part,
                               size_t part_pitch, int left, int top, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float *from = (const float *)((const char *)picture + (top + y) * picture_pitch);
    float *to = (float *)((char *)part + y * part_pitch);
    int fixed = (int)(__saturatef(fabsf(from[left + x])) * 8388608.0f);
    to[x] = copysignf(fixed / 8388608.0f, from[left + x]);
}
