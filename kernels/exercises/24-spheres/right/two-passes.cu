// First the nearest distance, then the sphere that has it.
// Beginner: first the nearest z, then the sphere that has it
#include "cuda_device.h"
struct Sphere { float x, y, z; float radius; float brightness; };
#define MAX_SPHERES 64
__constant__ Sphere constant_spheres[MAX_SPHERES];
__device__ float hit(int i, int x, int y) {
    float dx = x - constant_spheres[i].x, dy = y - constant_spheres[i].y;
    float rest = constant_spheres[i].radius * constant_spheres[i].radius - dx * dx - dy * dy;
    return rest > 0 ? constant_spheres[i].z + sqrtf(rest) : -1e10f;
}
extern "C" __global__ void draw(const Sphere *spheres, int count, float *image, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float nearest = -1e10f, seen = 0;
    for (int i = 0; i < count; i++) nearest = fmaxf(nearest, hit(i, x, y));
    if (nearest > -1e10f)
        for (int i = 0; i < count; i++)
            if (hit(i, x, y) == nearest) { seen = constant_spheres[i].brightness; break; }
    image[y * width + x] = seen;
}
