// Spheres in global memory, in constant memory, and in constant memory at indices that
// are known at compile time.
//
// Shows the benefit and the requirements of constant memory. Every thread of a warp reads
// the same sphere at the same time, the one access pattern that constant memory is made
// for: one request is broadcast to all 32 lanes. The gain depends on the layout of the
// spheres and on whether their index is known at compile time.
//
//   raytrace_global     the book's first version: 28-byte spheres, global memory
//   raytrace_constant   the book's second version: the same spheres and the same
//                       loop, constant memory
//   raytrace_unrolled   32-byte spheres, and a loop unrolled so that indices are
//                       compile-time constants: a machine instruction can then
//                       name a word of constant memory as its operand, and no
//                       load is needed
//
// Follows the note on CUDA by Example, chapter 6, "Constant memory and events".
// Run it:  cargo run -p raytrace-const

#include "cuda_device.h"

// Farther away than any sphere (the book's value).
#define INF 2e10f

// Size of a module's constant bank: 64 KB on every GPU so far.
#define CONSTANT_BYTES 65536

// Group size of raytrace_unrolled. The host pads the last group with spheres of
// radius 0, which no ray hits.
#define GROUP 4

// Number of spheres that raytrace_unrolled reads at compile-time indices; it loops over
// the rest. The book's scene has 20.
#define UNROLLED 20

// ANCHOR: Sphere
// A sphere in the book's layout: 28 bytes, the colour in the book's order. Rays run along
// the z axis; the eye is at z = +infinity.
//
// Fused multiply-adds are written explicitly, because otherwise a compiler may or may not
// fuse them. So every GPU, the simulator and the reference in Rust round in the same
// places, and their images can be compared bit by bit.
struct Sphere {
    float r, b, g;
    float radius;
    float x, y, z;

    // Returns the squared distance between the ray through (ox, oy) and the centre.
    __device__ float distance2(float ox, float oy) const {
        float dx = ox - x;
        float dy = oy - y;
        return fmaf(dx, dx, dy * dy);
    }

    // Returns true if a ray at this distance from the centre meets the sphere.
    __device__ bool met(float distance2) const { return distance2 < radius * radius; }

    // Returns the z at which the ray meets the sphere, or -INF if it misses. Sets
    // `shade` to the z component of the surface's unit normal there: 1 where the sphere
    // faces the eye, 0 at its rim.
    __device__ float hit(float distance2, float *shade) const {
        if (met(distance2)) {
            float dz = sqrtf(fmaf(radius, radius, -distance2));
            *shade = dz / sqrtf(radius * radius);
            return dz + z;
        }
        return -INF;
    }
};
// ANCHOR_END: Sphere

// A sphere aligned to 32 bytes, so that vector loads may fetch it.
struct __align__(32) AlignedSphere : Sphere {};

// Constant memory, shared by both layouts: a module has one bank of 64 KB.
union ConstantBank {
    Sphere packed[CONSTANT_BYTES / sizeof(Sphere)];                 // 2340
    AlignedSphere aligned[CONSTANT_BYTES / sizeof(AlignedSphere)];  // 2048
};
__constant__ ConstantBank constant_spheres;

// One pixel: the nearest hit so far and its colour, black if there is none.
struct Pixel {
    float nearest = -INF;
    float r = 0, g = 0, b = 0;

    __device__ void look_at(const Sphere &sphere, float distance2) {
        float shade;
        float z = sphere.hit(distance2, &shade);
        if (z > nearest) {
            nearest = z;
            r = sphere.r * shade;
            g = sphere.g * shade;
            b = sphere.b * shade;
        }
    }

    __device__ uchar4 colour() const {
        return make_uchar4((int)(r * 255), (int)(g * 255), (int)(b * 255), 255);
    }
};

// The book's kernel: one thread per pixel, the z axis through the image's middle. (nvcc
// unrolls this loop by four on its own; clang needs a pragma.)
extern "C" __global__ void raytrace_global(const Sphere *spheres, int count,
                                           uchar4 *image, int width, int height) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= width || y >= height) return;
    float ox = x - width / 2;
    float oy = y - height / 2;

    Pixel pixel;
#pragma unroll 4
    for (int i = 0; i < count; i++) {
        pixel.look_at(spheres[i], spheres[i].distance2(ox, oy));
    }
    image[x + y * width] = pixel.colour();
}

// ANCHOR: raytrace_constant
// Draws the same image with the spheres in constant memory.
extern "C" __global__ void raytrace_constant(int count, uchar4 *image, int width,
                                             int height) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= width || y >= height) return;
    float ox = x - width / 2;
    float oy = y - height / 2;

    Pixel pixel;
    const Sphere *spheres = constant_spheres.packed;
#pragma unroll 4
    for (int i = 0; i < count; i++) {
        pixel.look_at(spheres[i], spheres[i].distance2(ox, oy));
    }
    image[x + y * width] = pixel.colour();
}
// ANCHOR_END: raytrace_constant

// Tests a group of spheres without a branch between them, and examines them one by one
// only if a ray hits one: most rays miss most spheres.
__device__ __forceinline__ void look_at_group(Pixel &pixel,
                                              const AlignedSphere *spheres,
                                              float ox, float oy) {
    float distance2[GROUP];
    bool any = false;
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        distance2[i] = spheres[i].distance2(ox, oy);
        any |= spheres[i].met(distance2[i]);
    }
    if (!any) return;
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        if (spheres[i].met(distance2[i])) pixel.look_at(spheres[i], distance2[i]);
    }
}

// Draws aligned spheres, the first UNROLLED of them at compile-time indices.
extern "C" __global__ void raytrace_unrolled(int count, uchar4 *image, int width,
                                             int height) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= width || y >= height) return;
    float ox = x - width / 2;
    float oy = y - height / 2;

    // ANCHOR: raytrace_unrolled
    Pixel pixel;
    const AlignedSphere *spheres = constant_spheres.aligned;
#pragma unroll
    for (int first = 0; first < UNROLLED; first += GROUP) {
        if (first < count) look_at_group(pixel, spheres + first, ox, oy);
    }
#pragma unroll 4
    for (int i = UNROLLED; i < count; i++) {
        pixel.look_at(spheres[i], spheres[i].distance2(ox, oy));
    }
    image[x + y * width] = pixel.colour();
    // ANCHOR_END: raytrace_unrolled
}
