// Rejected at: launch
// Says: no `if (i < n)` that excludes threads past the end
// Assumes that every strip is complete and reads past the last row.

#include "cuda_device.h"

// Number of rows of a strip. The last strip of a column may have fewer.
#define STRIP 32

extern "C" __global__ void column_sums(const char *matrix, size_t pitch, int *sums, int width,
                                       int height) {
    int strips = (height + STRIP - 1) / STRIP;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= strips * width) return;
    int column = i % width;
    int strip = i / width;

    int sum = 0;
    for (int y = strip * STRIP; y < (strip + 1) * STRIP; ++y) {
        const int *row = (const int *)(matrix + y * pitch);
        sum += row[column];
    }
    atomicAdd(&sums[column], sum);
}
