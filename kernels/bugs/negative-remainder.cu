// A ring buffer computes the index before the first element with `%`. In C the remainder of
// a negative number is negative, so the element is one before the array.

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
