// One function addresses elements of both buffers.
#include "cuda_device.h"

template <typename T> __device__ T &at(T *start, size_t pitch, int x, int y) {
    return ((T *)((size_t)start + y * pitch))[x];
}

extern "C" __global__ void cut(const float *picture, size_t picture_pitch, float *part,
                               size_t part_pitch, int left, int top, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        at(part, part_pitch, x, y) = at(picture, picture_pitch, left + x, top + y);
    }
}
