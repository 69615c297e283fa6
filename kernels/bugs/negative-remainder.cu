// A ring: what is before the first element is the last one, by `%`. But in C the remainder of a
// negative number is negative, and so the element is one before the array.

#include "cuda_device.h"

extern "C" __global__ void negative_remainder(const float *ring, float *out, int n, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = ring[(i - shift) % n]; // BUG: mem
    }
}

extern "C" __global__ void negative_remainder_right(const float *ring, float *out, int n,
                                                    int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = ring[(i - shift + n) % n];
    }
}
