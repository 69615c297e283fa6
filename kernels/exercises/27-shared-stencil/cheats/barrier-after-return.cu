// Rejected at: checks
// Says: A barrier that not all threads of the block reach: some have exited
// Threads without a pixel load their part of the tile but exit before the barrier.
#include "cuda_device.h"

#define WIDE 32
#define HIGH 8

extern "C" __global__ void blur(const float *in, float *out, int width, int height) {
    __shared__ float tile[HIGH + 2][WIDE + 2];
    int left = blockIdx.x * WIDE - 1, top = blockIdx.y * HIGH - 1;
    for (int k = threadIdx.y * WIDE + threadIdx.x; k < (HIGH + 2) * (WIDE + 2); k += WIDE * HIGH) {
        int x = left + k % (WIDE + 2), y = top + k / (WIDE + 2);
        bool inside = x >= 0 && x < width && y >= 0 && y < height;
        tile[k / (WIDE + 2)][k % (WIDE + 2)] = inside ? in[y * width + x] : 0.0f;
    }
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    if (x >= width || y >= height) return;
    __syncthreads();
    float sum = 0.0f;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) sum += tile[threadIdx.y + r][threadIdx.x + c];
    }
    out[y * width + x] = sum;
}
