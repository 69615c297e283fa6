// Spheres are staged in shared memory, one chunk at a time, without a barrier at the end of
// the loop. The next chunk overwrites spheres that other warps are still reading.

#include "cuda_device.h"

#define CHUNK 64

// Computes each point's depth inside the nearest of `count` spheres; spheres are centre and radius.
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
