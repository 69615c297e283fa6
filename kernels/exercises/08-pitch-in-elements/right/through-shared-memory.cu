// A block loads its floats coalesced and assembles the pixels in shared memory.
#include "cuda_device.h"

extern "C" __global__ void to_grey(const float *image, size_t pitch, float *grey, int width,
                                   int height) {
    __shared__ float colours[16][48];
    int left = blockIdx.x * 16, y = blockIdx.y * 16 + threadIdx.y;
    const float *row = (const float *)((const char *)image + y * pitch);
    for (int k = threadIdx.x; k < 48; k += 16) {
        bool inside = y < height && 3 * left + k < 3 * width;
        colours[threadIdx.y][k] = inside ? row[3 * left + k] : 0.0f;
    }
    __syncthreads();
    const float *own = &colours[threadIdx.y][3 * threadIdx.x];
    int x = left + threadIdx.x;
    if (x < width && y < height) grey[y * width + x] = 0.25f * own[0] + 0.5f * own[1] + 0.25f * own[2];
}
