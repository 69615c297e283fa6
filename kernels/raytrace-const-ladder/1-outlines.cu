// Rung 1: intersection tests come first and read only the 16 bytes of a sphere that they need.
//
// A test reads 16 bytes instead of 28, and 20 tests run without a branch: the rest of a
// sphere is read only if a ray meets it. All lanes test the same spheres; they diverge only
// when they shade one, which is rare.
//
// Run it:  cargo run -p raytrace-const -- --variant outlines

#include "in_constant.h"

extern "C" __global__ void raytrace_outlines(int count, uchar4 *image, int width,
                                             int height) {
    render<Patch<1, 1>>(InConstant(), count, image, width, height);
}
