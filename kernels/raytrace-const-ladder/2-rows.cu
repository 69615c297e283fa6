// Rung 2: four pixels per thread.
//
// One read serves four tests, which also share the distance along y: a quarter of the
// threads, and so a quarter of the requests that tests make to constant memory. A warp
// writes 512 bytes with one request instead of 128 bytes with each of four.
//
// Run it:  cargo run -p raytrace-const -- --variant rows

#include "in_constant.h"

extern "C" __global__ void raytrace_rows(int count, uchar4 *image, int width,
                                         int height) {
    // ANCHOR: render
    render<Patch<4, 1>>(InConstant(), count, image, width, height);
    // ANCHOR_END: render
}
