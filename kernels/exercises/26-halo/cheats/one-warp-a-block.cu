// Rejected at: time
// Says: times the solution's time
// One warp of each block does the work of four.
#include "cuda_device.h"
#define BLOCK 128
#define RADIUS 4
extern "C" __global__ void sums(const float *in, float *out, int n) {
    __shared__ float tile[BLOCK + 2 * RADIUS];
    if (threadIdx.x >= 32) return;
    int first = blockIdx.x * BLOCK - RADIUS;
    for (int k = threadIdx.x; k < BLOCK + 2 * RADIUS; k += 32) {
        int i = first + k;
        tile[k] = i >= 0 && i < n ? in[i] : 0;
    }
    __syncwarp();
    for (int t = threadIdx.x; t < BLOCK; t += 32) {
        float sum = 0;
        for (int k = 0; k <= 2 * RADIUS; k++) sum += tile[t + k];
        int i = blockIdx.x * BLOCK + t;
        if (i < n) out[i] = sum;
    }
}
