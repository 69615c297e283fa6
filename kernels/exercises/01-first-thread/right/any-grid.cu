// A grid-stride loop works for any number of blocks.
#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int threads = gridDim.x * blockDim.x;
    for (unsigned int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += threads) {
        y[i] += a * __ldg(&x[i]);
    }
}
