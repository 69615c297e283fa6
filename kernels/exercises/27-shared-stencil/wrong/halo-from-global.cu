// Rejected at: counters
// Says: global load sectors: 20 628, required: from 4 096 to 10 240
// Only the row of a thread is in shared memory: the rows above and below are loaded again.

#include "cuda_device.h"

#define WIDE 32
#define HIGH 8

extern "C" __global__ void blur(const float *in, float *out, int width, int height) {
    __shared__ float tile[HIGH][WIDE + 2];
    int x = blockIdx.x * WIDE + threadIdx.x;
    int y = blockIdx.y * HIGH + threadIdx.y;
    float sum = 0.0f;
    for (int row = y - 1; row <= y + 1; row++) {
        for (int col = threadIdx.x; col < WIDE + 2; col += WIDE) {
            int from = blockIdx.x * WIDE - 1 + col;
            bool inside = row >= 0 && row < height && from >= 0 && from < width;
            tile[threadIdx.y][col] = inside ? in[row * width + from] : 0.0f;
        }
        __syncthreads();
        for (int col = 0; col < 3; col++) sum += tile[threadIdx.y][threadIdx.x + col];
        __syncthreads();
    }
    if (x < width && y < height) out[y * width + x] = sum;
}
