// An element of a matrix is at row * width + column; this kernel computes row * height +
// column. In a matrix higher than it is wide, the last rows are past the end.

#include "cuda_device.h"

extern "C" __global__ void height_for_width(const float *in, float *out, int width, int height) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    out[row * width + col] = 0.5f * in[row * height + col]; // BUG: mem
}

extern "C" __global__ void height_for_width_right(const float *in, float *out, int width,
                                                  int height) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    out[row * width + col] = 0.5f * in[row * width + col];
}
