// Blurs an image: every pixel becomes the sum of the three by three pixels around it. Each
// thread issues nine loads, and each pixel is loaded by nine threads.

#include "cuda_device.h"

// Threads per block, along x and y.
#define WIDE 32
#define HIGH 8

// Computes out[y][x] = in[y - 1][x - 1] + ... + in[y + 1][x + 1]; pixels outside the image
// count as 0. The image has `height` rows of `width` pixels.
extern "C" __global__ void blur(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * WIDE + threadIdx.x;
    int y = blockIdx.y * HIGH + threadIdx.y;
    if (x >= width || y >= height) return;
    // TODO: first load the pixels that the block needs into shared memory, each pixel once.
    float sum = 0.0f;
    for (int row = y - 1; row <= y + 1; row++) {
        for (int col = x - 1; col <= x + 1; col++) {
            bool inside = row >= 0 && row < height && col >= 0 && col < width;
            if (inside) sum += in[row * width + col];
        }
    }
    out[y * width + x] = sum;
}
