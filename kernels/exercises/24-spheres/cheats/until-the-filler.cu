// Rejected at: right
// Says: `image`
// Ends at a large sphere instead of at `count`.
// Ray-traces spheres, one thread per pixel. All threads of a warp read the same sphere at
// the same time, from constant memory (a broadcast).

#include "cuda_device.h"

// A sphere: its centre, its radius and its brightness.
struct Sphere {
    float x, y, z;
    float radius;
    float brightness;
};

// Maximum number of spheres.
#define MAX_SPHERES 64

// The host copies the spheres here as well as to global memory.
__constant__ Sphere constant_spheres[MAX_SPHERES];

// Writes to each pixel the brightness of the sphere that it sees, 0 if it sees none. Rays
// run along the z axis, and the eye is at the largest z.
extern "C" __global__ void draw(const Sphere *spheres, int count, float *image, int width,
                                int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;

    float nearest = -1e10f, seen = 0.0f;
    for (int i = 0; i < MAX_SPHERES && constant_spheres[i].radius != 1000.0f; i++) {
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
