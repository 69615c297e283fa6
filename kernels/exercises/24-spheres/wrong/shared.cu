// Rejected at: counters
// Says: the variable `constant_spheres` is not in constant memory
// Read from shared memory, to which every block first has to copy the spheres from global memory.

#include "cuda_device.h"

// A sphere: its centre, its radius and its brightness.
struct Sphere {
    float x, y, z;
    float radius;
    float brightness;
};

// Maximum number of spheres.
#define MAX_SPHERES 64

// Writes to each pixel the brightness of the sphere that it sees, 0 if it sees none. Rays
// run along the z axis, and the eye is at the largest z.
extern "C" __global__ void draw(const Sphere *spheres, int count, float *image, int width,
                                int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    __shared__ Sphere tile[MAX_SPHERES];
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < count; i += blockDim.x * blockDim.y)
        tile[i] = spheres[i];
    __syncthreads();
    if (x >= width || y >= height) return;

    float nearest = -1e10f, seen = 0.0f;
    for (int i = 0; i < count; i++) {
        float dx = x - tile[i].x, dy = y - tile[i].y;
        float distance2 = dx * dx + dy * dy;
        float radius2 = tile[i].radius * tile[i].radius;
        if (distance2 < radius2) {
            float z = tile[i].z + sqrtf(radius2 - distance2);
            if (z > nearest) {
                nearest = z;
                seen = tile[i].brightness;
            }
        }
    }
    image[y * width + x] = seen;
}
