// One thread writes a value that all threads read right away, without a barrier. Only the
// warp of the writing thread is guaranteed to see it.

#include "cuda_device.h"

extern "C" __global__ void broadcast(const float *in, float *out) {
    __shared__ float largest;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) {
        float value = in[i];
        for (int j = 1; j < blockDim.x; j++) value = fmaxf(value, in[i + j]);
        largest = value; // with this
    }
    out[i] = in[i] / largest; // BUG: race
}

extern "C" __global__ void broadcast_right(const float *in, float *out) {
    __shared__ float largest;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) {
        float value = in[i];
        for (int j = 1; j < blockDim.x; j++) value = fmaxf(value, in[i + j]);
        largest = value;
    }
    __syncthreads();
    out[i] = in[i] / largest;
}
