// A slice of 3D memory has pitch * height bytes; this kernel uses pitch * depth. In a
// volume deeper than it is high, the last slices are past its end.

#include "cuda_device.h"

extern "C" __global__ void slice_pitch(char *volume, size_t pitch, int width, int height,
                                       int depth) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    if (x >= width || y >= height) return;
    float *row = (float *)(volume + z * pitch * depth + y * pitch);
    row[x] = x + y + z; // BUG: mem
}

extern "C" __global__ void slice_pitch_right(char *volume, size_t pitch, int width, int height,
                                             int depth) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    if (x >= width || y >= height) return;
    float *row = (float *)(volume + z * pitch * height + y * pitch);
    row[x] = x + y + z;
}
