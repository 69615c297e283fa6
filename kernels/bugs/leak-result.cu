// Results are copied back, but their device memory is never freed. The bug is in the host code:
//
//     float *result;
//     cudaMalloc(&result, n * sizeof(float)); // BUG: leak
//     ...
//     cudaMemcpy(host, result, n * sizeof(float), cudaMemcpyDeviceToHost);

#include "cuda_device.h"

extern "C" __global__ void leak_result(const float *in, float *result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) result[i] = in[i] * in[i];
}
