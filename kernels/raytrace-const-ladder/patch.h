// Code shared by all rungs of the ray tracer's ladder: spheres in two parts, and a thread's
// patch of pixels. All rungs draw the book's image bit by bit (kernels/raytrace-const.cu has
// the book's kernels), with its operations in the same order.

#pragma once

#include "cuda_device.h"

// Farther away than any sphere (the book's value).
#define INF 2e10f

// Number of spheres that are tested before any of them is examined: as many as the book's
// scene has. The host pads the last group with spheres of radius 0, which no ray meets.
#define GROUP 20

// ANCHOR: Outline
// The part of a sphere that a test reads, in one 16-byte vector.
struct __align__(16) Outline {
    float x, y;
    float radius2;  // radius * radius, rounded as in the test
    float radius;
};
// ANCHOR_END: Outline

// The rest of a sphere, read only if a ray meets it.
struct __align__(16) Surface {
    float z;
    float r, g, b;
};

// Returns the four bytes of a pixel as one word, in memory order.
__device__ __forceinline__ unsigned int word(uchar4 pixel) {
    return pixel.x | pixel.y << 8 | pixel.z << 16 | (unsigned int)pixel.w << 24;
}

// WIDTH by HEIGHT pixels, the first of them at (x, y), and the nearest sphere so far for
// each, -1 if there is none.
template <int WIDTH, int HEIGHT>
struct Patch {
    int x, y;
    float ox[WIDTH], oy[HEIGHT];
    float nearest[HEIGHT][WIDTH];
    int sphere[HEIGHT][WIDTH];

    // Creates this thread's patch of an image whose middle is on the z axis.
    __device__ __forceinline__ Patch(int width, int height) {
        x = WIDTH * (threadIdx.x + blockIdx.x * blockDim.x);
        y = HEIGHT * (threadIdx.y + blockIdx.y * blockDim.y);
#pragma unroll
        for (int i = 0; i < WIDTH; i++) ox[i] = x + i - width / 2;
#pragma unroll
        for (int j = 0; j < HEIGHT; j++) {
            oy[j] = y + j - height / 2;
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                nearest[j][i] = -INF;
                sphere[j][i] = -1;
            }
        }
    }

    // Computes the squared distances at which the patch's rays pass a centre.
    __device__ __forceinline__ void distances(const Outline &outline,
                                              float distance2[HEIGHT][WIDTH]) const {
        float dx[WIDTH];
#pragma unroll
        for (int i = 0; i < WIDTH; i++) dx[i] = ox[i] - outline.x;
        // ANCHOR: distances
#pragma unroll
        for (int j = 0; j < HEIGHT; j++) {
            float dy = oy[j] - outline.y;
            float dy2 = dy * dy;
#pragma unroll
            for (int i = 0; i < WIDTH; i++) distance2[j][i] = fmaf(dx[i], dx[i], dy2);
        }
        // ANCHOR_END: distances
    }

    // Returns true if any of the rays meets the sphere, that is, if the closest one does.
    __device__ __forceinline__ bool met(const Outline &outline) const {
        float distance2[HEIGHT][WIDTH];
        distances(outline, distance2);
        float least = distance2[0][0];
#pragma unroll
        for (int j = 0; j < HEIGHT; j++) {
            float row = distance2[j][0];
#pragma unroll
            for (int i = 1; i < WIDTH; i++) row = fminf(row, distance2[j][i]);
            least = fminf(least, row);
        }
        return least < outline.radius2;
    }

    // Updates the nearest hits with sphere `index`, whose centre is at `z`.
    __device__ __forceinline__ void look_at(int index, const Outline &outline, float z) {
        float distance2[HEIGHT][WIDTH];
        distances(outline, distance2);
#pragma unroll
        for (int j = 0; j < HEIGHT; j++) {
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                if (distance2[j][i] < outline.radius2) {
                    float hit = dz(outline, distance2[j][i]) + z;
                    if (hit > nearest[j][i]) {
                        nearest[j][i] = hit;
                        sphere[j][i] = index;
                    }
                }
            }
        }
    }

    // Returns the distance along z between a ray's hit and the sphere's centre.
    __device__ static float dz(const Outline &outline, float distance2) {
        return sqrtf(fmaf(outline.radius, outline.radius, -distance2));
    }

    // Returns the colour of a pixel, black if no sphere is hit. (The book divides by the
    // square root of the squared radius. However both are rounded, the result is the radius.)
    template <class Spheres>
    __device__ __forceinline__ uchar4 colour(int i, int j, const Spheres &spheres) const {
        if (sphere[j][i] < 0) return make_uchar4(0, 0, 0, 255);
        Outline outline = spheres.outline(sphere[j][i]);
        Surface surface = spheres.surface(sphere[j][i]);
        float dx = ox[i] - outline.x;
        float dy = oy[j] - outline.y;
        float shade = dz(outline, fmaf(dx, dx, dy * dy)) / outline.radius;
        return make_uchar4((int)(surface.r * shade * 255), (int)(surface.g * shade * 255),
                           (int)(surface.b * shade * 255), 255);
    }

    // Returns true if no ray has hit anything, which is the most frequent case.
    __device__ __forceinline__ bool is_black() const {
        int any = -1;
#pragma unroll
        for (int j = 0; j < HEIGHT; j++) {
#pragma unroll
            for (int i = 0; i < WIDTH; i++) any = max(any, sphere[j][i]);
        }
        return any < 0;
    }

    // Stores the pixels that lie within the image, four at a time if rows start at a
    // multiple of four pixels.
    template <class Spheres>
    __device__ __forceinline__ void store(uchar4 *image, int width, int height,
                                          const Spheres &spheres) const {
        bool black = is_black();
#pragma unroll
        for (int j = 0; j < HEIGHT; j++) {
            if (y + j >= height) return;
            uchar4 row[WIDTH];
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                row[i] = black ? make_uchar4(0, 0, 0, 255) : colour(i, j, spheres);
            }
            uchar4 *first = &image[x + (y + j) * width];
            if (WIDTH == 4 && width % 4 == 0) {
                *(uint4 *)first = make_uint4(word(row[0]), word(row[1 % WIDTH]),
                                             word(row[2 % WIDTH]), word(row[3 % WIDTH]));
            } else {
#pragma unroll
                for (int i = 0; i < WIDTH; i++) {
                    if (x + i < width) first[i] = row[i];
                }
            }
        }
    }
};

// Tests the GROUP spheres from `first` on without a branch between them, then examines
// those that were met, in order.
template <class Patch, class Spheres>
__device__ __forceinline__ void look_at_group(Patch &patch, const Spheres &spheres,
                                              int first) {
    // ANCHOR: look_at_group
    unsigned int met = 0;
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        if (patch.met(spheres.outline(first + i))) met |= 1u << i;
    }
    // ANCHOR_END: look_at_group
    while (met != 0) {
        int i = first + __ffs(met) - 1;
        met &= met - 1;
        patch.look_at(i, spheres.outline(i), spheres.surface(i).z);
    }
}

// Renders a thread's patch: tests all spheres and stores the pixels.
template <class Patch, class Spheres>
__device__ __forceinline__ void render(const Spheres &spheres, int count, uchar4 *image,
                                       int width, int height) {
    Patch patch(width, height);
    if (patch.x >= width || patch.y >= height) return;
#pragma unroll 1
    for (int first = 0; first < count; first += GROUP) {
        look_at_group(patch, spheres, first);
    }
    patch.store(image, width, height, spheres);
}
