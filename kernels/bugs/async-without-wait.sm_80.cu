// Asynchronous copies to shared memory are followed by a barrier, but no thread waits for
// the copies. A barrier orders only completed accesses; these copies may still be in flight.

#include "async_copy.h"
#include "cuda_device.h"

#define BLOCK_SIZE 128

extern "C" __global__ void async_without_wait(const float *in, float *out) {
    __shared__ float tile[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    __pipeline_memcpy_async(&tile[t], &in[i], sizeof(float)); // with this
    __pipeline_commit();
    __syncthreads();
    out[i] = tile[BLOCK_SIZE - 1 - t]; // BUG: race
}

extern "C" __global__ void async_without_wait_right(const float *in, float *out) {
    __shared__ float tile[BLOCK_SIZE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
    __pipeline_memcpy_async(&tile[t], &in[i], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = tile[BLOCK_SIZE - 1 - t];
}
