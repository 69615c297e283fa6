// Rejected at: checks, right
// Says: A data race: a read of data that another thread may not have written yet
// No barrier: each thread waits for some clock cycles.
#include "cuda_device.h"

#define BLOCK 256

extern "C" __global__ void differences(const float *in, float *out, int n) {
    __shared__ volatile float tile[BLOCK + 1];
    int t = threadIdx.x;
    for (int first = blockIdx.x * BLOCK; first < n; first += gridDim.x * BLOCK) {
        int i = first + t;
        if (i <= n) tile[t] = in[i];
        if (t == BLOCK - 1 && i < n) tile[BLOCK] = in[i + 1];
        for (int k = 0; k < 100; ++k) (void)clock64();
        if (i < n) out[i] = tile[t + 1] - tile[t];
        for (int k = 0; k < 100; ++k) (void)clock64();
    }
}
