// Rung 6: one test for sixteen rays.
//
// Rung 3 computes the distance of each ray only to find the minimum. Here the test computes
// the point of the patch's rectangle that is nearest to the centre, as if rays passed
// through all of it: nine instructions for sixteen pixels instead of 44.
//
// Run it:  cargo run -p raytrace-const -- --variant nearest-point

#include "in_constant.h"

struct NearestPoint : Patch<4, 4> {
    using Patch<4, 4>::Patch;

    // No ray passes closer than this point: its dx and dy are no longer than any ray's, and
    // rounding never reverses their order. So no sphere that a ray meets is lost. A sphere that
    // only reaches in between the rays is examined, and then no ray meets it.
    // ANCHOR: met
    __device__ __forceinline__ bool met(const Outline &outline) const {
        float dx = fminf(fmaxf(outline.x, ox[0]), ox[3]) - outline.x;
        float dy = fminf(fmaxf(outline.y, oy[0]), oy[3]) - outline.y;
        return fmaf(dx, dx, dy * dy) < outline.radius2;
    }
    // ANCHOR_END: met
};

extern "C" __global__ void raytrace_nearest_point(int count, uchar4 *image, int width,
                                                  int height) {
    render<NearestPoint>(InConstant(), count, image, width, height);
}
