// Rejected at: counters
// Says: global load sectors: 262 144, required: from 32 768 to 65 536
// Lets neighbouring threads read neighbouring rows. Their elements are neighbours in the
// matrix but a whole row apart in memory.

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
    for (int y = strip; y < height; y += strips) {
        const int *row = (const int *)(matrix + y * pitch);
        sum += row[column];
    }
    atomicAdd(&sums[column], sum);
}
