// Rejected at: counters
// Says: required: at most 19 200
// Uses constant memory, but each thread starts with a different sphere, so requests are serialized.
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
    int first = count;
    for (int k = 0; k < count; k++) {
        int i = (k + threadIdx.x) % count;
        Sphere sphere = constant_spheres[i];
        float dx = x - sphere.x, dy = y - sphere.y;
        float rest = sphere.radius * sphere.radius - (dx * dx + dy * dy);
        float z = rest > 0.0f ? sphere.z + sqrtf(rest) : -1e20f;
        if (z > nearest || (z == nearest && i < first)) {
            nearest = z;
            seen = sphere.brightness;
            first = i;
        }
    }
    image[y * width + x] = seen;
}
