// Spheres of seven floats, and a kernel whose struct has gained an eighth. Each sphere is
// read four bytes further off than the one before, and the last ones are past the end.

#include "cuda_device.h"

struct Sphere {
    float r, g, b;
    float radius;
    float x, y, z;
};

struct ShinySphere {
    float r, g, b;
    float radius;
    float x, y, z;
    float shine;
};

extern "C" __global__ void struct_stride(const ShinySphere *spheres, int count, float *depths) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        depths[i] = spheres[i].z + spheres[i].radius; // BUG: mem
    }
}

extern "C" __global__ void struct_stride_right(const Sphere *spheres, int count, float *depths) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        depths[i] = spheres[i].z + spheres[i].radius;
    }
}
