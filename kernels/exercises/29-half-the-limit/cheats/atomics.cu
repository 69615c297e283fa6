// Rejected at: checks, launch
// Says: performs an atomic operation on its input
// Each thread has its own contiguous range as before, but reads it with atomics.
#include "cuda_device.h"

#define BLOCK 256
#define POINTS 8
#define WIDTH 9

__device__ __forceinline__ float load(const float *p) {
    return __uint_as_float(atomicOr((unsigned int *)p, 0u));
}

extern "C" __global__ void sums(const float *in, float *out, int n) {
    int first = (blockIdx.x * BLOCK + threadIdx.x) * POINTS;
    for (int i = first; i < min(first + POINTS, n); i++) {
        float sum = 0.0f;
        for (int k = 0; k < WIDTH; k++) sum += load(&in[i + k]);
        out[i] = sum;
    }
}
