// Sums go up a tree, and prefixes down.
#include "cuda_device.h"
#define THREADS 256
extern "C" __global__ void scan(const float *in, float *out, int n) {
    __shared__ float s[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    float own = i < n ? in[i] : 0;
    s[t] = own;
    for (int d = 1; d < THREADS; d *= 2) {
        __syncthreads();
        int k = (t + 1) * 2 * d - 1;
        if (k < THREADS) s[k] += s[k - d];
    }
    __syncthreads();
    if (t == 0) s[THREADS - 1] = 0;
    for (int d = THREADS / 2; d; d /= 2) {
        __syncthreads();
        int k = (t + 1) * 2 * d - 1;
        if (k < THREADS) {
            float l = s[k - d];
            s[k - d] = s[k];
            s[k] += l;
        }
    }
    __syncthreads();
    if (i < n) out[i] = s[t] + own;
}