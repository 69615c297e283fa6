// Rejected at: right
// Says: `neighbours`: you predicted 1, which is wrong.
// Counts cache lines of 128 bytes instead of sectors.

#include "cuda_device.h"

// Sectors that each kernel's load requests, in the order of the kernels.
__constant__ unsigned int predicted[6] = {1, 1, 2, 3, 8, 1};

extern "C" __global__ void neighbours(const float *in, float *out) {
    out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void backwards(const float *in, float *out) {
    out[threadIdx.x] = in[31 - threadIdx.x];
}

extern "C" __global__ void one_further(const float *in, float *out) {
    out[threadIdx.x] = in[threadIdx.x + 1];
}

extern "C" __global__ void every_third(const float *in, float *out) {
    out[threadIdx.x] = in[3 * threadIdx.x];
}

extern "C" __global__ void every_eighth(const float *in, float *out) {
    out[threadIdx.x] = in[8 * threadIdx.x];
}

extern "C" __global__ void the_same(const float *in, float *out) {
    out[threadIdx.x] = in[0];
}
