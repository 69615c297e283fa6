// The sums of a matrix's columns.
//
// The matrix is in pitched memory. A thread adds up a strip, a part of one column, and adds
// what comes out to the column's sum. Launched with blocks of 128 threads, as many threads
// as there are strips in all columns together.

#include "cuda_device.h"

// Rows of a strip. The last one of a column may have fewer.
#define STRIP 32

extern "C" __global__ void column_sums(const char *matrix, size_t pitch, int *sums, int width,
                                       int height) {
    int strips = (height + STRIP - 1) / STRIP;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= strips * width) return;
    // Neighbouring threads have neighbouring columns: what they read lies side by side.
    int column = i % width;
    int strip = i / width;

    int sum = 0;
    for (int y = strip * STRIP; y < (strip + 1) * STRIP && y < height; ++y) {
        const int *row = (const int *)(matrix + y * pitch);
        sum += row[column];
    }
    atomicAdd(&sums[column], sum);
}
