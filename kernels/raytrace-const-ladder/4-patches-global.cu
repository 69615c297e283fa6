// Rung 4: rung 3 with spheres in global memory.
//
// For comparison with constant memory. Global memory holds any number of spheres. Each read
// is a request to the L1 cache, after its address is computed.
//
// Run it:  cargo run -p raytrace-const -- --variant patches-global

#include "in_global.h"

extern "C" __global__ void raytrace_patches_global(const Outline *outlines,
                                                   const Surface *surfaces, int count,
                                                   uchar4 *image, int width,
                                                   int height) {
    InGlobal spheres = {outlines, surfaces};
    render<Patch<4, 4>>(spheres, count, image, width, height);
}
