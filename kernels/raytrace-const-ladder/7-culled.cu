// Rung 7: culling: a block first discards the spheres that cannot touch its pixels.
//
// This is a different algorithm, which makes fewer tests than the other rungs, so its time
// is not compared with theirs.
//
// Run it:  cargo run -p raytrace-const -- --variant culled

#include "in_constant.h"

// Number of spheres that a block culls at a time.
#define CULLED 1024

// Draws a block's rectangle. The block's threads first divide the spheres among them, test
// which ones touch the rectangle, and record the result in shared memory, one bit per
// sphere. Then every thread iterates over the set bits, and so over the remaining spheres
// in order, at an index that all lanes share, from constant memory.
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
        // ANCHOR: culled
        for (int i = thread; i < end; i += threads) {
            // The closest point of the rectangle, as if a ray passed through every point.
            Outline outline = outlines[first + i];
            float dx = fminf(fmaxf(outline.x, left), right) - outline.x;
            float dy = fminf(fmaxf(outline.y, top), bottom) - outline.y;
            if (fmaf(dx, dx, dy * dy) < outline.radius2) {
                atomicOr(&touching[i / 32], 1u << i % 32);
            }
        }
        // ANCHOR_END: culled
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
