// Rejected at: right
// Says: elements of `out`

#include "cuda_device.h"

// Subtracts the sum of all numbers after each from the sum of all.
extern "C" __global__ void scan(const float *in, float *out, int n) {
    __shared__ float sums[2][256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float own = i < n ? in[i] : 0;
    sums[0][t] = own;
    __syncthreads();
    int from = 0;
    for (int distance = 1; distance < 256; distance *= 2) {
        float after = t + distance < 256 ? sums[from][t + distance] : 0;
        sums[1 - from][t] = sums[from][t] + after;
        from = 1 - from;
        __syncthreads();
    }
    if (i < n) out[i] = sums[from][0] - sums[from][t] + own;
}
