// Rejected at: right
// Says: behind the end of row 0 of `part` were overwritten
// Writes to the padding behind the rows and then restores its previous content.
#include "cuda_device.h"

extern "C" __global__ void cut(const float *picture, size_t picture_pitch, float *part,
                               size_t part_pitch, int left, int top, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= height || x >= width + 3) return;
    const float *from = (const float *)((const char *)picture + (top + y) * picture_pitch);
    float *to = (float *)((char *)part + y * part_pitch);
    to[x] = x < width ? from[left + x] : __uint_as_float(0x55555555u);
}
