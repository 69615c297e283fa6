// Rung 5: rung 3 with spheres in shared memory, one tile of them at a time.
//
// Shared memory is the last of the three memories in which a block's threads can share spheres.
//
// Run it:  cargo run -p raytrace-const -- --variant patches-tiles

#include "in_global.h"

// Number of spheres in a tile of shared memory.
#define TILE (12 * GROUP)

// A tile of outlines in shared memory, the surfaces in global memory: a block reads each
// outline from global memory once.
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
        // ANCHOR: tile
        __syncthreads();
        for (int i = thread; i < end; i += threads) tile[i] = all.outline(first + i);
        __syncthreads();
        // ANCHOR_END: tile
        InTile spheres = {tile, all, first};
#pragma unroll 1
        for (int i = 0; i < end; i += GROUP) look_at_group(patch, spheres, first + i);
    }
    if (patch.x < width && patch.y < height) patch.store(image, width, height, all);
}
