// The ray tracer's ladder: from the book's constant memory to what arithmetic allows.
//
// Shows how far constant memory goes once a sphere that was read serves more than one
// test. All rungs draw the book's picture bit by bit (kernels/raytrace-const.cu has the
// book's kernels), with its operations in its order.
//
//   raytrace_outlines  tests come first and need 16 bytes of a sphere; whatever else
//                      there is to a sphere is read where a ray meets it
//   raytrace_rows      four pixels a thread: one read for four tests, which also share
//                      the distance along y, and one store of 16 bytes for four pixels
//   raytrace_patches   four rows of four: sixteen tests share a read, and the distances
//                      along x as well
//
// The best of them from elsewhere, so that constant memory has something to be compared
// with:
//
//   raytrace_patches_global  spheres in global memory
//   raytrace_patches_tiles   spheres in shared memory, a tile of them at a time
//
// And one that tests less, which is another algorithm:
//
//   raytrace_culled    a block first drops the spheres that are nowhere near it
//
// Belongs to the note on CUDA by Example, chapter 6, "Constant memory and events".
// Run it:  cargo run -p raytrace-const -- --variant ladder

#include "cuda_device.h"

// Farther away than any sphere (the book's value).
#define INF 2e10f

// Spheres that are tested before any of them is looked at: as many as the book's scene
// has. The host fills the last group up with spheres of radius 0, which no ray meets.
#define GROUP 20

// The most spheres that 64 KB of constant memory hold in whole groups.
#define CONSTANT_SPHERES 2040

// Spheres in a tile of shared memory.
#define TILE (12 * GROUP)

// Spheres that a block culls at a time.
#define CULLED 1024

// What a test needs of a sphere, in one vector of 16 bytes.
struct __align__(16) Outline {
    float x, y;
    float radius2;  // radius * radius, as the test would round it
    float radius;
};

// The rest of it.
struct __align__(16) Surface {
    float z;
    float r, g, b;
};

// The four bytes of a pixel as they lie in memory.
__device__ __forceinline__ unsigned int word(uchar4 pixel) {
    return pixel.x | pixel.y << 8 | pixel.z << 16 | (unsigned int)pixel.w << 24;
}

struct Scene {
    Outline outlines[CONSTANT_SPHERES];
    Surface surfaces[CONSTANT_SPHERES];
};
__constant__ Scene constant_scene;

// Spheres in constant memory, and in global memory: the kernels read either alike.
struct InConstant {
    __device__ Outline outline(int i) const { return constant_scene.outlines[i]; }
    __device__ Surface surface(int i) const { return constant_scene.surfaces[i]; }
};
struct InGlobal {
    const Outline *outlines;
    const Surface *surfaces;
    // By one load of 16 bytes. A test uses twelve of them, and clang would fetch those by
    // two loads.
    __device__ Outline outline(int i) const {
        float4 vector = __ldg((const float4 *)&outlines[i]);
        return {vector.x, vector.y, vector.z, vector.w};
    }
    __device__ Surface surface(int i) const { return surfaces[i]; }
};

// WIDTH by HEIGHT pixels, the first of them at (x, y): for each the nearest sphere so
// far, -1 where there is none.
template <int WIDTH, int HEIGHT>
struct Patch {
    int x, y;
    float ox[WIDTH], oy[HEIGHT];
    float nearest[HEIGHT][WIDTH];
    int sphere[HEIGHT][WIDTH];

    // This thread's patch of a picture whose middle the z axis goes through.
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

    // The squares of the distances at which the patch's rays pass a centre.
    __device__ __forceinline__ void distances(const Outline &outline,
                                              float distance2[HEIGHT][WIDTH]) const {
        float dx[WIDTH];
#pragma unroll
        for (int i = 0; i < WIDTH; i++) dx[i] = ox[i] - outline.x;
#pragma unroll
        for (int j = 0; j < HEIGHT; j++) {
            float dy = oy[j] - outline.y;
            float dy2 = dy * dy;
#pragma unroll
            for (int i = 0; i < WIDTH; i++) distance2[j][i] = fmaf(dx[i], dx[i], dy2);
        }
    }

    // Whether any of the rays meets the sphere: whether the one that passes closest does.
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

    // Looks at sphere `index`, whose centre is at `z`, with each of the rays.
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

    // How far before its centre a ray meets the sphere.
    __device__ static float dz(const Outline &outline, float distance2) {
        return sqrtf(fmaf(outline.radius, outline.radius, -distance2));
    }

    // The colour of a pixel, black where no sphere is. (The book divides by the square
    // root of the radius's square. However both are rounded, that is the radius.)
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

    // Whether no ray has met anything, as most have not.
    __device__ __forceinline__ bool is_black() const {
        int any = -1;
#pragma unroll
        for (int j = 0; j < HEIGHT; j++) {
#pragma unroll
            for (int i = 0; i < WIDTH; i++) any = max(any, sphere[j][i]);
        }
        return any < 0;
    }

    // Writes what lies within the picture, four pixels at a time where rows begin at a
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

// Tests the GROUP spheres from `first` on without a branch between them, then looks at
// those that were met, in order.
template <class Patch, class Spheres>
__device__ __forceinline__ void look_at_group(Patch &patch, const Spheres &spheres,
                                              int first) {
    unsigned int met = 0;
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        if (patch.met(spheres.outline(first + i))) met |= 1u << i;
    }
    while (met != 0) {
        int i = first + __ffs(met) - 1;
        met &= met - 1;
        patch.look_at(i, spheres.outline(i), spheres.surface(i).z);
    }
}

// A thread's patch, from beginning to end.
template <int WIDTH, int HEIGHT, class Spheres>
__device__ __forceinline__ void render(const Spheres &spheres, int count, uchar4 *image,
                                       int width, int height) {
    Patch<WIDTH, HEIGHT> patch(width, height);
    if (patch.x >= width || patch.y >= height) return;
#pragma unroll 1
    for (int first = 0; first < count; first += GROUP) {
        look_at_group(patch, spheres, first);
    }
    patch.store(image, width, height, spheres);
}

// 16 bytes a test in place of 28, and no branch for 20 tests. All lanes test the same
// spheres; only what they look at differs, and that is seldom.
extern "C" __global__ void raytrace_outlines(int count, uchar4 *image, int width,
                                             int height) {
    render<1, 1>(InConstant(), count, image, width, height);
}

// A quarter of the threads, and so a quarter of the requests that tests make to constant
// memory. A warp writes 512 bytes with one request in place of 128 with each of four.
extern "C" __global__ void raytrace_rows(int count, uchar4 *image, int width,
                                         int height) {
    render<4, 1>(InConstant(), count, image, width, height);
}

// A sixteenth of those requests. A test takes a multiply-add and a comparison, which are
// each pixel's own, and a sixteenth of all that leads up to them.
extern "C" __global__ void raytrace_patches(int count, uchar4 *image, int width,
                                            int height) {
    render<4, 4>(InConstant(), count, image, width, height);
}

// Global memory takes any number of spheres. Reading one is a request to the first
// cache, after its address was computed.
extern "C" __global__ void raytrace_patches_global(const Outline *outlines,
                                                   const Surface *surfaces, int count,
                                                   uchar4 *image, int width,
                                                   int height) {
    InGlobal spheres = {outlines, surfaces};
    render<4, 4>(spheres, count, image, width, height);
}

// A tile of outlines in shared memory, the rest of a sphere in global memory: a block
// reads each outline there once.
struct InTile {
    const Outline *tile;
    InGlobal all;
    int first;
    __device__ Outline outline(int i) const { return tile[i - first]; }
    __device__ Surface surface(int i) const { return all.surface(i); }
};

extern "C" __global__ void raytrace_patches_tiles(const Outline *outlines,
                                                  const Surface *surfaces, int count,
                                                  uchar4 *image, int width, int height) {
    __shared__ Outline tile[TILE];
    InGlobal all = {outlines, surfaces};
    int thread = threadIdx.x + threadIdx.y * blockDim.x;
    int threads = blockDim.x * blockDim.y;

    Patch<4, 4> patch(width, height);
    for (int first = 0; first < count; first += TILE) {
        // The last tile ends with a group.
        int end = min(TILE, (count - first + GROUP - 1) / GROUP * GROUP);
        __syncthreads();
        for (int i = thread; i < end; i += threads) tile[i] = all.outline(first + i);
        __syncthreads();
        InTile spheres = {tile, all, first};
#pragma unroll 1
        for (int i = 0; i < end; i += GROUP) look_at_group(patch, spheres, first + i);
    }
    if (patch.x < width && patch.y < height) patch.store(image, width, height, all);
}

// A block's threads share the work of finding out which spheres touch the rectangle that
// the block draws, each looking at some of them, and note those in shared memory, a bit
// a sphere. Then every thread goes through the bits, and so through the spheres in their
// order: with few of them left, at an index that all lanes share, from constant memory.
extern "C" __global__ void raytrace_culled(const Outline *outlines, int count,
                                           uchar4 *image, int width, int height) {
    __shared__ unsigned int touching[CULLED / 32];
    int thread = threadIdx.x + threadIdx.y * blockDim.x;
    int threads = blockDim.x * blockDim.y;

    Patch<4, 2> patch(width, height);
    int x = patch.x - 4 * threadIdx.x - width / 2;
    int y = patch.y - 2 * threadIdx.y - height / 2;
    float left = x, right = x + 4 * (int)blockDim.x - 1;
    float top = y, bottom = y + 2 * (int)blockDim.y - 1;

    InConstant spheres;
    for (int first = 0; first < count; first += CULLED) {
        int end = min(CULLED, count - first);
        __syncthreads();
        for (int i = thread; i < CULLED / 32; i += threads) touching[i] = 0;
        __syncthreads();
        for (int i = thread; i < end; i += threads) {
            // The ray of the rectangle that passes closest, were there one anywhere.
            Outline outline = outlines[first + i];
            float dx = fminf(fmaxf(outline.x, left), right) - outline.x;
            float dy = fminf(fmaxf(outline.y, top), bottom) - outline.y;
            if (fmaf(dx, dx, dy * dy) < outline.radius2) {
                atomicOr(&touching[i / 32], 1u << i % 32);
            }
        }
        __syncthreads();
        for (int i = 0; 32 * i < end; i++) {
            for (unsigned int bits = touching[i]; bits != 0; bits &= bits - 1) {
                int sphere = first + 32 * i + __ffs(bits) - 1;
                Outline outline = spheres.outline(sphere);
                if (patch.met(outline)) {
                    patch.look_at(sphere, outline, spheres.surface(sphere).z);
                }
            }
        }
    }
    if (patch.x < width && patch.y < height) patch.store(image, width, height, spheres);
}
