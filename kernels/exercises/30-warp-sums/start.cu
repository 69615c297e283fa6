// Computes the sums of every 32 neighbouring numbers through shared memory.

#include "cuda_device.h"

// Threads per block.
#define THREADS 256

// Computes sums[w] = in[32 * w] + ... + in[32 * w + 31], for indices below n.
extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    __shared__ float values[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    // TODO: the threads of a warp can read each other's registers: avoid shared memory.
    values[threadIdx.x] = i < n ? in[i] : 0;
    for (int distance = 16; distance > 0; distance /= 2) {
        __syncthreads();
        if (lane < distance) values[threadIdx.x] += values[threadIdx.x + distance];
    }
    if (lane == 0 && i < n) sums[i / 32] = values[threadIdx.x];
}
