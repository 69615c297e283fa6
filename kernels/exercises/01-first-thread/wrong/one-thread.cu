// Rejected at: counters
// Says: global load sectors: 200 000, required: from 25 000 to 31 250
// One thread of each block does the work of its block, element by element.

#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    if (threadIdx.x > 0) return;
    for (unsigned int j = 0; j < blockDim.x; ++j) {
        unsigned int i = blockIdx.x * blockDim.x + j;
        if (i < n) y[i] = a * x[i] + y[i];
    }
}
