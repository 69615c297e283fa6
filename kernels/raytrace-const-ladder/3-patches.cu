// Rung 3: four rows of four pixels per thread.
//
// Sixteen tests share a read, and the distances along x as well. Per pixel, a test takes a
// multiply-add and a comparison, plus a sixteenth of all that precedes them.
//
// Run it:  cargo run -p raytrace-const -- --variant patches

#include "in_constant.h"

extern "C" __global__ void raytrace_patches(int count, uchar4 *image, int width,
                                            int height) {
    // ANCHOR: render
    render<Patch<4, 4>>(InConstant(), count, image, width, height);
    // ANCHOR_END: render
}
