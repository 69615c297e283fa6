// Computes the address of the pixel in bytes.
#include "cuda_device.h"

struct Pixel {
    float red, green, blue;
};

extern "C" __global__ void to_grey(const Pixel *image, size_t pitch, float *grey, int width,
                                   int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        const char *start = reinterpret_cast<const char *>(image);
        Pixel pixel = *reinterpret_cast<const Pixel *>(start + y * pitch + x * sizeof(Pixel));
        grey[y * width + x] = 0.25f * (pixel.red + pixel.blue) + 0.5f * pixel.green;
    }
}
