// Rejected at: time
// Says: one thread, one warp of a block or one block
// The first block does all of the work, with as few sectors as the solution; the others do nothing.
#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    if (blockIdx.x != 0) return;
    for (unsigned int i = threadIdx.x; i < n; i += blockDim.x) y[i] = a * x[i] + y[i];
}
