// The predictions are formulas: the sectors from first to last, or one per thread.
#include "cuda_device.h"

constexpr unsigned int span(unsigned int first, unsigned int last) { return last / 8 - first / 8 + 1; }

__constant__ unsigned int predicted[6] = {
    span(0, 31), span(0, 31), span(1, 32), span(0, 93), 32, span(0, 0),
};

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
