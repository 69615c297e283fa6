// Spheres in global memory, in constant memory, and in constant memory at
// indices the compiler knows.
//
// Shows what constant memory gives and what it asks for. Every thread of a warp
// looks at the same sphere at the same time, which is the one access pattern
// constant memory is made for: one request serves all 32 lanes. How much that is
// worth depends on how the spheres are laid out and on how their index is known.
//
//   raytrace_global     the book's first version: 28-byte spheres, global memory
//   raytrace_constant   the book's second version: the same spheres and the same
//                       loop, constant memory
//   raytrace_unrolled   32-byte spheres, and a loop unrolled so that indices are
//                       compile-time constants: a machine instruction can then
//                       name a word of constant memory as its operand, and no
//                       load is needed
//
// Belongs to the note on CUDA by Example, chapter 6, "Constant memory and events".
// Run it:  cargo run -p raytrace-const

#include "cuda_device.h"

// Farther away than any sphere (the book's value).
#define INF 2e10f

// The constant bank of a module: 64 KB on every GPU so far.
#define CONSTANT_BYTES 65536

// raytrace_unrolled takes spheres in groups of this many. The host fills the last
// group up with spheres of radius 0, which no ray hits.
#define GROUP 4

// How many spheres raytrace_unrolled reads at compile-time indices; it loops over
// the rest. The book's scene has 20.
#define UNROLLED 20

// ANCHOR: Sphere
// A sphere as the book has it, 28 bytes, the colour in the book's order. Rays run
// along the z axis; the eye is at z = +infinity.
//
// Fused multiply-adds are written out, because a compiler may otherwise fuse, or
// not, as it likes. So every GPU, the simulator and the reference in Rust round
// alike, and their pictures can be compared bit by bit.
struct Sphere {
    float r, b, g;
    float radius;
    float x, y, z;

    // The square of the distance at which the ray through (ox, oy) passes the centre.
    __device__ float distance2(float ox, float oy) const {
        float dx = ox - x;
        float dy = oy - y;
        return fmaf(dx, dx, dy * dy);
    }

    // Whether a ray that passes the centre at this distance meets the sphere.
    __device__ bool met(float distance2) const { return distance2 < radius * radius; }

    // The z at which it does, or -INF where it does not. `shade` becomes the z
    // component of the surface's unit normal there: 1 where the sphere faces the
    // eye, 0 at its rim.
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

// The same sphere on a 32-byte boundary, so that vector loads may fetch it.
struct __align__(32) AlignedSphere : Sphere {};

// Constant memory, shared by both layouts: a module has one bank of 64 KB.
union ConstantBank {
    Sphere packed[CONSTANT_BYTES / sizeof(Sphere)];                 // 2340
    AlignedSphere aligned[CONSTANT_BYTES / sizeof(AlignedSphere)];  // 2048
};
__constant__ ConstantBank constant_spheres;

// One pixel: the nearest hit so far and its colour, black where there is none.
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

// The book's kernel: one thread a pixel, the z axis through the picture's middle.
// (nvcc unrolls this loop by four of its own accord; clang has to be told.)
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
// The same, but for where the spheres are.
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

// Tests a group of spheres without a branch between them, and looks closer only
// where one was hit: most rays miss most spheres.
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

// Aligned spheres, the first UNROLLED of them at compile-time indices.
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
