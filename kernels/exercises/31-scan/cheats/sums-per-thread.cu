// Rejected at: counters
// Says: global load sectors: 270 240, required: at most 7 500
// Every thread sums all preceding elements.
#include "cuda_device.h"

// Threads per block, and numbers per scan.
#define THREADS 256

// Computes out[i] as the sum of in[i / THREADS * THREADS] to in[i].
extern "C" __global__ void scan(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = i / THREADS * THREADS; k <= i && k < n; ++k) sum += in[k];
    if (i < n) out[i] = sum;
}
