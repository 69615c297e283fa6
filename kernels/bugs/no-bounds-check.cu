// One sum per thread, without `if (i < n)`: the grid consists of whole blocks, but the
// arrays do not. The surplus threads read and write past the ends.

#include "cuda_device.h"

extern "C" __global__ void no_bounds_check(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i]; // BUG: mem
}

extern "C" __global__ void no_bounds_check_right(const float *a, const float *b, float *c,
                                                 int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
