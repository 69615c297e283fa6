// Copies each whole sphere from constant memory.
#include "cuda_device.h"

struct Sphere {
    float x, y, z, radius, brightness;
};

__constant__ Sphere constant_spheres[64];

extern "C" __global__ void draw(const Sphere *, int count, float *image, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float nearest = -1e10f, seen = 0.0f;
    for (int i = 0; i < count; i++) {
        Sphere sphere = constant_spheres[i];
        float dx = x - sphere.x, dy = y - sphere.y;
        float rest = sphere.radius * sphere.radius - dx * dx - dy * dy;
        if (rest <= 0.0f) continue;
        float z = sphere.z + sqrtf(rest);
        if (z <= nearest) continue;
        nearest = z;
        seen = sphere.brightness;
    }
    image[y * width + x] = seen;
}
