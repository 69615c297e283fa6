// The error is reported with the correct line.
#include "cuda_device.h"
#define STRIP 32
extern "C" __global__ void column_sums(const char *matrix, size_t pitch, int *sums, int width,
                                       int height) {
    int strips = (height + STRIP - 1) / STRIP;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= strips * width) return;
    int column = i % width, strip = i / width;
    int sum = 0;
    for (int y = strip * STRIP; y < (strip + 1) * STRIP && y < height; ++y)
        sum += ((const int *)(matrix + y * pitch))[column];
    if (strip == 0)
        sums[column] += sum;
    else
        sums[column] += sum;
}
