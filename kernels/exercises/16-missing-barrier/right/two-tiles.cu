// Two alternating tiles: the barrier after the use of a tile precedes the write of the next one.
#include "cuda_device.h"

#define BLOCK 256

extern "C" __global__ void differences(const float *in, float *out, int n) {
    __shared__ float tiles[2][BLOCK + 1];
    int t = threadIdx.x, turn = 0;
    for (int first = blockIdx.x * BLOCK; first < n; first += gridDim.x * BLOCK, turn ^= 1) {
        int i = first + t;
        if (i <= n) tiles[turn][t] = in[i];
        if (t == BLOCK - 1 && i < n) tiles[turn][BLOCK] = in[i + 1];
        __syncthreads();
        if (i < n) out[i] = tiles[turn][t + 1] - tiles[turn][t];
    }
}
