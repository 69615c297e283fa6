// Results are copied back in a stream, but the host reads them before it waits. The bug is in the host code:
//
//     cudaMemcpyAsync(host, result, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
//     printf("%f\n", host[0]); // BUG: host
//     cudaStreamSynchronize(stream);

#include "cuda_device.h"

extern "C" __global__ void read_too_soon(const float *in, float *result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) result[i] = in[i] * in[i];
}
