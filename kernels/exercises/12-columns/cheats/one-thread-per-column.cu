// Rejected at: time
// Says: one thread, one warp of a block or one block
// One thread sums a whole column: the loads are coalesced, but 31 of 32 blocks do nothing.
#include "cuda_device.h"

extern "C" __global__ void column_sums(const char *matrix, size_t pitch, int *sums, int width,
                                       int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width) return;
    int sum = 0;
    for (int y = 0; y < height; y++) sum += ((const int *)(matrix + y * pitch))[i];
    sums[i] = sum;
}
