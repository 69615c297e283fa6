// Four columns per thread. The last threads of a row also read its padding but do not use it.
#include "cuda_device.h"

#define STRIP 32

extern "C" __global__ void column_sums(const char *matrix, size_t pitch, int *sums, int width,
                                       int height) {
    int strips = (height + STRIP - 1) / STRIP, fours = (width + 3) / 4;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= strips * fours) return;
    int four = i % fours, strip = i / fours;
    int4 sum = make_int4(0, 0, 0, 0);
    for (int y = strip * STRIP; y < min(height, (strip + 1) * STRIP); ++y) {
        int4 row = ((const int4 *)(matrix + y * pitch))[four];
        sum = make_int4(sum.x + row.x, sum.y + row.y, sum.z + row.z, sum.w + row.w);
    }
    atomicAdd(&sums[4 * four], sum.x);
    if (4 * four + 1 < width) atomicAdd(&sums[4 * four + 1], sum.y);
    if (4 * four + 2 < width) atomicAdd(&sums[4 * four + 2], sum.z);
    if (4 * four + 3 < width) atomicAdd(&sums[4 * four + 3], sum.w);
}
