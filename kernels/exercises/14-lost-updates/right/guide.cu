// Adds by the loop of the CUDA C++ Programming Guide.
#include "cuda_device.h"
// as in the CUDA C++ Programming Guide, "Atomic Functions"
__device__ unsigned int above;
__device__ unsigned myAtomicAdd(unsigned *address, unsigned val) {
    unsigned old = *address, assumed;
    do {
        assumed = old;
        old = atomicCAS(address, assumed, val + assumed);
    } while (assumed != old);
    return old;
}
extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && values[i] > threshold) myAtomicAdd(&above, 1);
}