// Rejected at: right
// Says: All 7 elements of `sums` are wrong
// Coalesces the accesses by reading the matrix as if it were transposed, which computes the
// sums of rows.

#include "cuda_device.h"

// Number of rows of a strip. The last strip of a column may have fewer.
#define STRIP 32

extern "C" __global__ void column_sums(const char *matrix, size_t pitch, int *sums, int width,
                                       int height) {
    int strips = (height + STRIP - 1) / STRIP;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= strips * width) return;
    int column = i / strips;
    int strip = i % strips;

    int sum = 0;
    for (int y = strip * STRIP; y < (strip + 1) * STRIP && y < height; ++y) {
        const int *row = (const int *)(matrix + column * pitch);
        sum += row[y];
    }
    atomicAdd(&sums[column], sum);
}
