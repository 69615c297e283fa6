// Each thread adds up two neighbouring columns.
#include "cuda_device.h"
#define STRIP 32
extern "C" __global__ void column_sums(const char *matrix, size_t pitch, int *sums, int width,
                                       int height) {
    int pairs = (width + 1) / 2, strips = (height + STRIP - 1) / STRIP,
        i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs * strips) return;
    int c = 2 * (i % pairs), s = i / pairs;
    bool both = c + 1 < width;
    int a = 0, b = 0;
    for (int y = s * STRIP; y < min((s + 1) * STRIP, height); y++) {
        const int *r = (const int *)(matrix + y * pitch);
        if (both) {
            int2 v = *(const int2 *)(r + c);
            a += v.x;
            b += v.y;
        } else
            a += r[c];
    }
    atomicAdd(&sums[c], a);
    if (both) atomicAdd(&sums[c + 1], b);
}