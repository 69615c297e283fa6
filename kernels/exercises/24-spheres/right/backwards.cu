// Tests the spheres from last to first with a function.
#include "cuda_device.h"

struct Sphere {
    float x, y, z, radius, brightness;
};

__constant__ Sphere constant_spheres[64];

__device__ float height_of(const Sphere &sphere, float x, float y) {
    float dx = x - sphere.x, dy = y - sphere.y;
    float rest = sphere.radius * sphere.radius - (dx * dx + dy * dy);
    return rest > 0.0f ? sphere.z + sqrtf(rest) : -1e20f;
}

extern "C" __global__ void draw(const Sphere *unused, int count, float *image, int width, int height) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x < width && y < height) {
        float nearest = -1e10f, seen = 0.0f;
        for (int i = count - 1; i >= 0; i--) {
            float z = height_of(constant_spheres[i], x, y);
            // Of two equally near spheres, the first one counts.
            if (z >= nearest && z > -1e10f) {
                nearest = z;
                seen = constant_spheres[i].brightness;
            }
        }
        image[y * width + x] = seen;
    }
}
