// __syncwarp() with a mask of 16 lanes, executed by all 32. The other 16 lanes are not in
// the mask, so they are not synchronized.

#include "cuda_device.h"

extern "C" __global__ void syncwarp_mask(const float *in, float *out) {
    __shared__ float tile[32];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncwarp(0x0000ffff); // BUG: sync
    out[t] = tile[t ^ 1];
}

extern "C" __global__ void syncwarp_mask_right(const float *in, float *out) {
    __shared__ float tile[32];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncwarp(0xffffffff);
    out[t] = tile[t ^ 1];
}
