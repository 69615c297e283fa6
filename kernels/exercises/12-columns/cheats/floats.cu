// Rejected at: right
// Says: `sums`
// Adds as floats, which have 24 bits.
#include "cuda_device.h"
#define STRIP 32

extern "C" __global__ void column_sums(const char *matrix, size_t pitch, int *sums, int width, int height) {
    int strips = (height + STRIP - 1) / STRIP;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= strips * width) return;
    int column = i % width;
    int strip = i / width;
    int sum = 0;
    for (int y = strip * STRIP; y < (strip + 1) * STRIP && y < height; ++y) {
        const int *row = (const int *)(matrix + y * pitch);
        sum += row[column] << 8 >> 8;
    }
    atomicAdd(&sums[column], sum);
}
