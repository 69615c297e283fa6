// Initializes a structure with the address of a shared array.
#include "cuda_device.h"
__constant__ uint4 weights;

struct Lookup {
    const unsigned int *entries;
    __device__ unsigned int operator[](unsigned int byte) const { return entries[byte]; }
};

template <int Byte> __device__ unsigned int byte_of(unsigned int pixel) { return __byte_perm(pixel, 0, 0x4440 + Byte); }

extern "C" __global__ void brightness(const unsigned int *pixels, const unsigned int *table, unsigned int *out, int n) {
    __shared__ unsigned int copy[256];
    copy[threadIdx.x] = __ldg(&table[threadIdx.x]);
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned int pixel = i < n ? __ldcs(&pixels[i]) : 0;
    __syncthreads();
    Lookup lookup = {copy};
    unsigned int sum = weights.x * lookup[byte_of<0>(pixel)] + weights.y * lookup[byte_of<1>(pixel)];
    sum += weights.z * lookup[byte_of<2>(pixel)] + weights.w * lookup[byte_of<3>(pixel)];
    if (i < n) __stcs(&out[i], sum);
}
