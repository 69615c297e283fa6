// Rejected at: right
// Says: 15 of the 30 elements of `differences` are wrong
// Uses the width instead of the height for the number of rows of a slice.

#include "cuda_device.h"

struct Volume {
    const char *start;
    size_t pitch;
    int width, height, depth;
};

// Returns a pointer to the first element of row y of slice z.
__device__ const float *row(Volume volume, int y, int z) {
    size_t slice_pitch = volume.pitch * volume.width;
    return (const float *)(volume.start + z * slice_pitch + y * volume.pitch);
}

extern "C" __global__ void slice_differences(Volume volume, float *differences) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z;
    if (x >= volume.width || y >= volume.height) return;
    float before = z == 0 ? 0.0f : row(volume, y, z - 1)[x];
    int i = (z * volume.height + y) * volume.width + x;
    differences[i] = row(volume, y, z)[x] - before;
}
