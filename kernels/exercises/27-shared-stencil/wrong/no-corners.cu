// Rejected at: right
// Says: elements of `out` are wrong, the first at
// Loads the pixels and the four sides of the halo, but not its corners.

#include "cuda_device.h"

// Threads per block, along x and y.
#define WIDE 32
#define HIGH 8

// Computes out[y][x] = in[y - 1][x - 1] + ... + in[y + 1][x + 1]; pixels outside the image
// count as 0. The image has `height` rows of `width` pixels.
extern "C" __global__ void blur(const float *in, float *out, int width, int height) {
    __shared__ float tile[HIGH + 2][WIDE + 2];
    int left = blockIdx.x * WIDE - 1, top = blockIdx.y * HIGH - 1;
    for (int row = threadIdx.y; row < HIGH + 2; row += HIGH) {
        for (int col = threadIdx.x; col < WIDE + 2; col += WIDE) {
            int x = left + col, y = top + row;
            bool corner = (row == 0 || row == HIGH + 1) && (col == 0 || col == WIDE + 1);
            bool inside = x >= 0 && x < width && y >= 0 && y < height && !corner;
            tile[row][col] = inside ? in[y * width + x] : 0.0f;
        }
    }
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
