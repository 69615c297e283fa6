// Rejected at: checks
// Says: performs an atomic operation on its input
// The strips are unchanged, but elements are read with atomics, which are not counted as loads.
#include "cuda_device.h"

#define STRIP 32

extern "C" __global__ void column_sums(const char *matrix, size_t pitch, int *sums, int width,
                                       int height) {
    int strips = (height + STRIP - 1) / STRIP;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= strips * width) return;
    int column = i / strips, strip = i % strips;
    int sum = 0;
    for (int y = strip * STRIP; y < (strip + 1) * STRIP && y < height; ++y) {
        sum += atomicOr((int *)(matrix + y * pitch) + column, 0);
    }
    atomicAdd(&sums[column], sum);
}
