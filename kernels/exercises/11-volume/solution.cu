// Computes how much each slice of a volume differs from the one before it.
//
// The volume is in 3D memory: `depth` slices of `height` rows of `width` floats. A row
// starts `pitch` bytes after the one before it; so does a slice's first row after the last
// row of the slice before. `differences` is linear. Launched with blocks of 32x4 threads,
// one layer of blocks per slice.

#include "cuda_device.h"

struct Volume {
    const char *start;
    size_t pitch;
    int width, height, depth;
};

// Returns a pointer to the first element of row y of slice z.
__device__ const float *row(Volume volume, int y, int z) {
    size_t slice_pitch = volume.pitch * volume.height;
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
