// Each thread loads its own pixel; those at the border load the halo too.
#include "cuda_device.h"

#define WIDE 32
#define HIGH 8

__device__ float pixel(const float *in, int x, int y, int width, int height) {
    return x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : 0.0f;
}

extern "C" __global__ void blur(const float *in, float *out, int width, int height) {
    __shared__ float tile[HIGH + 2][WIDE + 2];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * WIDE + tx, y = blockIdx.y * HIGH + ty;
    tile[ty + 1][tx + 1] = pixel(in, x, y, width, height);
    if (ty == 0) tile[0][tx + 1] = pixel(in, x, y - 1, width, height);
    if (ty == HIGH - 1) tile[HIGH + 1][tx + 1] = pixel(in, x, y + 1, width, height);
    if (tx == 0) tile[ty + 1][0] = pixel(in, x - 1, y, width, height);
    if (tx == WIDE - 1) tile[ty + 1][WIDE + 1] = pixel(in, x + 1, y, width, height);
    if (tx == 0 && ty == 0) tile[0][0] = pixel(in, x - 1, y - 1, width, height);
    if (tx == WIDE - 1 && ty == 0) tile[0][WIDE + 1] = pixel(in, x + 1, y - 1, width, height);
    if (tx == 0 && ty == HIGH - 1) tile[HIGH + 1][0] = pixel(in, x - 1, y + 1, width, height);
    if (tx == WIDE - 1 && ty == HIGH - 1) {
        tile[HIGH + 1][WIDE + 1] = pixel(in, x + 1, y + 1, width, height);
    }
    __syncthreads();
    if (x < width && y < height) {
        float sum = 0.0f;
        for (int k = 0; k < 9; k++) sum += tile[ty + k / 3][tx + k % 3];
        out[y * width + x] = sum;
    }
}
