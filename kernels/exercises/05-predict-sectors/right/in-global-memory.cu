// The predictions are in a __device__ array; the exercise does not require constant memory.
#include "cuda_device.h"

extern "C" {
__device__ unsigned int predicted[6] = {4, 4, 5, 12, 32, 1};
}

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
