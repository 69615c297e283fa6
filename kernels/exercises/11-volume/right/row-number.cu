// Numbers the rows of all slices consecutively.
#include "cuda_device.h"

struct Volume {
    const char *start;
    size_t pitch;
    int width, height, depth;
};

__device__ const float *row(const Volume &volume, int number) {
    return (const float *)(volume.start + number * volume.pitch);
}

extern "C" __global__ void slice_differences(Volume volume, float *differences) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= volume.width || y >= volume.height) return;
    int number = blockIdx.z * volume.height + y;
    float value = row(volume, number)[x];
    if (blockIdx.z > 0) value -= row(volume, number - volume.height)[x];
    differences[number * volume.width + x] = value;
}
