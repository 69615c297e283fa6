// Rejected at: time
// Says: A GPU is fast where many threads work at the same time
// The first block does all of the work, as many sectors as the answer, and the others none.
#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    if (blockIdx.x != 0) return;
    for (unsigned int i = threadIdx.x; i < n; i += blockDim.x) y[i] = a * x[i] + y[i];
}
