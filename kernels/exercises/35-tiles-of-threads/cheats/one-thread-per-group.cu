// Rejected at: counters
// Says: global load sectors: 100 000, required: exactly 12 500
#include "cooperative.h"

namespace cg = cooperative_groups;

// Computes sums[g] = in[8 * g] + ... + in[8 * g + 7], eight threads per group.
extern "C" __global__ void group_sums(const float *in, float *sums, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups) return;
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += in[8 * i + k];
    sums[i] = sum;
}
