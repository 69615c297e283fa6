// Rejected at: checks
// Says: performs an atomic operation on its input
// Loads and stores one sample at a time with atomics, which are not counted as loads and stores.
#include "cuda_device.h"

__device__ __forceinline__ float load(const float *p) {
    return __uint_as_float(atomicOr((unsigned int *)p, 0u));
}

extern "C" __global__ void clip_all(const float *in, float *out, float level, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 4 * i; j < 4 * i + 4 && j < count; ++j) {
        float clipped = fminf(fmaxf(load(&in[j]), -level), level);
        atomicExch((unsigned int *)&out[j], __float_as_uint(clipped));
    }
}
