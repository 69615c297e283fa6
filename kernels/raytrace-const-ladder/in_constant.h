// Spheres in constant memory.

#pragma once

#include "patch.h"

// Maximum number of spheres in whole groups that 64 KB of constant memory hold.
#define CONSTANT_SPHERES 2040

struct Scene {
    Outline outlines[CONSTANT_SPHERES];
    Surface surfaces[CONSTANT_SPHERES];
};
__constant__ Scene constant_scene;

struct InConstant {
    __device__ Outline outline(int i) const { return constant_scene.outlines[i]; }
    __device__ Surface surface(int i) const { return constant_scene.surfaces[i]; }
};
