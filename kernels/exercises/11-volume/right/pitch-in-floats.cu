// Counts the pitch in floats, because it is a multiple of their size.
#include "cuda_device.h"

struct Volume {
    const char *start;
    size_t pitch;
    int width, height, depth;
};

extern "C" __global__ void slice_differences(Volume v, float *differences) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z;
    if (x < v.width && y < v.height) {
        const float *values = (const float *)v.start;
        size_t stride = v.pitch / 4, slice = stride * v.height;
        size_t i = z * slice + y * stride + x;
        float before = 0.0f;
        if (z) before = values[i - slice];
        differences[((size_t)z * v.height + y) * v.width + x] = values[i] - before;
    }
}
