// Swaps the arrays by their addresses, which clang keeps in a constant where it does not optimize.
#include "cuda_device.h"
extern "C" __global__ void scan(const float *in, float *out, int n) {
    __shared__ float a[256], b[256];
    float *buf[2] = {a, b};
    int t = threadIdx.x, i = blockIdx.x * 256 + t, cur = 0;
    buf[0][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        buf[1 - cur][t] = t >= d ? buf[cur][t] + buf[cur][t - d] : buf[cur][t];
        cur = 1 - cur;
        __syncthreads();
    }
    if (i < n) out[i] = buf[cur][t];
}
