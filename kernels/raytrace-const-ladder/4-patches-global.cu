// Rung 4: the same with spheres in global memory.
//
// So that constant memory has something to be compared with. Global memory takes any number
// of spheres. Reading one is a request to the L1 cache, after its address was computed.
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
