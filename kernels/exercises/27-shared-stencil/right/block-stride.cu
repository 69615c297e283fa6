// The tile is one array of 340 pixels, which the block loads in a block-stride loop.
#include "cuda_device.h"

#define WIDE 32
#define HIGH 8

extern "C" __global__ void blur(const float *in, float *out, int width, int height) {
    __shared__ float tile[(HIGH + 2) * (WIDE + 2)];
    int left = blockIdx.x * WIDE - 1, top = blockIdx.y * HIGH - 1;
    int t = threadIdx.y * WIDE + threadIdx.x;
    for (int k = t; k < (HIGH + 2) * (WIDE + 2); k += WIDE * HIGH) {
        int x = left + k % (WIDE + 2), y = top + k / (WIDE + 2);
        bool inside = x >= 0 && x < width && y >= 0 && y < height;
        tile[k] = inside ? in[y * width + x] : 0.0f;
    }
    __syncthreads();
    int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    if (x >= width || y >= height) return;
    const float *corner = &tile[threadIdx.y * (WIDE + 2) + threadIdx.x];
    float sum = 0.0f;
    for (int r = 0; r < 3; r++, corner += WIDE + 2) sum += corner[0] + corner[1] + corner[2];
    out[y * width + x] = sum;
}
