// Rejected at: right
// Says: A read of uninitialized shared memory
// A block has 256 threads but its tile has 340 pixels, so the last two rows and columns are not loaded.

#include "cuda_device.h"

// Threads per block, along x and y.
#define WIDE 32
#define HIGH 8

// Computes out[y][x] = in[y - 1][x - 1] + ... + in[y + 1][x + 1]; pixels outside the image
// count as 0. The image has `height` rows of `width` pixels.
extern "C" __global__ void blur(const float *in, float *out, int width, int height) {
    __shared__ float tile[HIGH + 2][WIDE + 2];
    int x0 = blockIdx.x * WIDE - 1 + (int)threadIdx.x, y0 = blockIdx.y * HIGH - 1 + (int)threadIdx.y;
    bool inside = x0 >= 0 && x0 < width && y0 >= 0 && y0 < height;
    tile[threadIdx.y][threadIdx.x] = inside ? in[y0 * width + x0] : 0.0f;
    __syncthreads();

    int x = blockIdx.x * WIDE + threadIdx.x;
    int y = blockIdx.y * HIGH + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int row = 0; row < 3; row++) {
        for (int col = 0; col < 3; col++) sum += tile[threadIdx.y + row][threadIdx.x + col];
    }
    out[y * width + x] = sum;
}
