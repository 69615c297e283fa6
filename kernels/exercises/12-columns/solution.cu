// Computes the sums of a matrix's columns.
//
// The matrix is in pitched memory. A thread adds up a strip, a part of one column,
// and adds the result to the column's sum. Launched with blocks of 128 threads, one
// thread per strip of any column.

#include "cuda_device.h"

// Number of rows of a strip. The last strip of a column may have fewer.
#define STRIP 32

extern "C" __global__ void column_sums(const char *matrix, size_t pitch, int *sums, int width,
                                       int height) {
    int strips = (height + STRIP - 1) / STRIP;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= strips * width) return;
    // Neighbouring threads process neighbouring columns, so their reads are coalesced.
    int column = i % width;
    int strip = i / width;

    int sum = 0;
    for (int y = strip * STRIP; y < (strip + 1) * STRIP && y < height; ++y) {
        const int *row = (const int *)(matrix + y * pitch);
        sum += row[column];
    }
    atomicAdd(&sums[column], sum);
}
