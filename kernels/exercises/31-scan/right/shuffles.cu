#include "cuda_device.h"

// Threads per block, and numbers per scan.
#define THREADS 256

// Computes out[i] as the sum of in[i / THREADS * THREADS] to in[i].
extern "C" __global__ void scan(const float *in, float *out, int n) {
    __shared__ float warps[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = i < n ? in[i] : 0;
    for (int distance = 1; distance < 32; distance *= 2) {
        float before = __shfl_up_sync(0xffffffff, sum, distance);
        if (lane >= distance) sum += before;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; ++w) sum += warps[w];
    if (i < n) out[i] = sum;
}
