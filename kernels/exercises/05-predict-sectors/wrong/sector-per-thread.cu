// Rejected at: right
// Says: `neighbours`: you predicted 32, which is wrong.
// Counts one sector per thread, although neighbours share a sector.

#include "cuda_device.h"

// Sectors that each kernel's load requests, in the order of the kernels.
__constant__ unsigned int predicted[6] = {32, 32, 32, 32, 32, 1};

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
