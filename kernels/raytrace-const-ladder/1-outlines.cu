// Rung 1: tests come first, by the 16 bytes of a sphere that they need.
//
// 16 bytes a test in place of 28, and no branch for 20 tests: whatever else there is to a
// sphere is read where a ray meets it. All lanes test the same spheres; only what they look
// at differs, and that is seldom.
//
// Run it:  cargo run -p raytrace-const -- --variant outlines

#include "in_constant.h"

extern "C" __global__ void raytrace_outlines(int count, uchar4 *image, int width,
                                             int height) {
    render<Patch<1, 1>>(InConstant(), count, image, width, height);
}
