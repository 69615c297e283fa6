// Spheres in shared memory, a chunk at a time, and no barrier at the loop's end. The next chunk's
// spheres are written over those that other warps still look at.

#include "cuda_device.h"

#define CHUNK 64

// How deep inside the nearest of `count` spheres each point is; spheres are centre and radius.
extern "C" __global__ void chunk_too_soon(const float *spheres, int count, const float *points,
                                          float *depths) {
    __shared__ float chunk[CHUNK][2];
    int t = threadIdx.x, i = blockIdx.x * CHUNK + t;
    float deepest = -1.0f;
    for (int first = 0; first < count; first += CHUNK) {
        chunk[t][0] = spheres[2 * (first + t)]; // BUG: race
        chunk[t][1] = spheres[2 * (first + t) + 1]; // BUG: race
        __syncthreads();
        for (int s = 0; s < CHUNK; s++) {
            float depth = chunk[s][1] - fabsf(points[i] - chunk[s][0]); // with this
            deepest = fmaxf(deepest, depth);
        }
    }
    depths[i] = deepest;
}

extern "C" __global__ void chunk_too_soon_right(const float *spheres, int count,
                                                const float *points, float *depths) {
    __shared__ float chunk[CHUNK][2];
    int t = threadIdx.x, i = blockIdx.x * CHUNK + t;
    float deepest = -1.0f;
    for (int first = 0; first < count; first += CHUNK) {
        chunk[t][0] = spheres[2 * (first + t)];
        chunk[t][1] = spheres[2 * (first + t) + 1];
        __syncthreads();
        for (int s = 0; s < CHUNK; s++) {
            float depth = chunk[s][1] - fabsf(points[i] - chunk[s][0]);
            deepest = fmaxf(deepest, depth);
        }
        __syncthreads();
    }
    depths[i] = deepest;
}
