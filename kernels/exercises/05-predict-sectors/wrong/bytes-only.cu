// Rejected at: right
// Says: `one_further`: you predicted 4, which is wrong.
// Counts only bytes and ignores the alignment: 128 bytes that start in the middle of a sector
// cover five sectors.

#include "cuda_device.h"

// Sectors that each kernel's load requests, in the order of the kernels.
__constant__ unsigned int predicted[6] = {4, 4, 4, 12, 32, 1};

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
