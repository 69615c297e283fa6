// Rejected at: right
// Says: The only element of `image` is wrong
// Assumes the twenty spheres of the chapter's scene instead of the number that the host passes.

#include "cuda_device.h"

// A sphere: its centre, its radius and its brightness.
struct Sphere {
    float x, y, z;
    float radius;
    float brightness;
};

// Maximum number of spheres.
#define MAX_SPHERES 64

__constant__ Sphere constant_spheres[MAX_SPHERES];

// Writes to each pixel the brightness of the sphere that it sees, 0 if it sees none. Rays
// run along the z axis, and the eye is at the largest z.
extern "C" __global__ void draw(const Sphere *spheres, int count, float *image, int width,
                                int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;

    float nearest = -1e10f, seen = 0.0f;
    for (int i = 0; i < 20; i++) {
        float dx = x - constant_spheres[i].x, dy = y - constant_spheres[i].y;
        float distance2 = dx * dx + dy * dy;
        float radius2 = constant_spheres[i].radius * constant_spheres[i].radius;
        if (distance2 < radius2) {
            float z = constant_spheres[i].z + sqrtf(radius2 - distance2);
            if (z > nearest) {
                nearest = z;
                seen = constant_spheres[i].brightness;
            }
        }
    }
    image[y * width + x] = seen;
}
