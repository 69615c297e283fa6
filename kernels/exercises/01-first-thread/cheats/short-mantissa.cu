// Rejected at: right
// Says: `y`
// Drops the last bits of `x`.
#include "cuda_device.h"
__device__ float cut(float v) { return __uint_as_float(__float_as_uint(v) & 0xFFFFFF80u); }
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = cut(a) * cut(x[i]) + cut(y[i]);
}
