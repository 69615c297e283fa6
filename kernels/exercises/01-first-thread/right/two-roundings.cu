// The product is rounded before the addition: as correct as a fused multiply-add, which rounds once.
#include "cuda_device.h"

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __shared__ volatile float products[128];
    products[threadIdx.x] = a * x[i];
    y[i] = products[threadIdx.x] + y[i];
}
