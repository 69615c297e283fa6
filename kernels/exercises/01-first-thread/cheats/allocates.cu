// Rejected at: time
// Says: times the solution's time
// Every thread allocates memory and frees it again.
#include "cuda_device.h"
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    void *memory = malloc(16);
    if (i < n) y[i] = a * x[i] + y[i];
    free(memory);
}
