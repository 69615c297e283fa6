// Rejected at: right
// Says: wrong
// Adds up a strip in a short.
#include "cuda_device.h"
#define STRIP 32
extern "C" __global__ void column_sums(const char *matrix, size_t pitch, int *sums, int width,
                                       int height) {
    int strips = (height + STRIP - 1) / STRIP;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= strips * width) return;
    int column = i % width, strip = i / width;
    short sum = 0;
    for (int y = strip * STRIP; y < (strip + 1) * STRIP && y < height; ++y)
        sum += ((const int *)(matrix + y * pitch))[column];
    atomicAdd(&sums[column], (int)sum);
}
