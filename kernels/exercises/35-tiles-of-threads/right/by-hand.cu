#include "cooperative.h"

namespace cg = cooperative_groups;

// Computes sums[g] = in[8 * g] + ... + in[8 * g + 7], eight threads per group.
extern "C" __global__ void group_sums(const float *in, float *sums, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < 8 * groups ? in[i] : 0;
    for (int mask = 1; mask < 8; mask *= 2) value += __shfl_xor_sync(0xffffffff, value, mask);
    if (threadIdx.x % 8 == 0 && i < 8 * groups) sums[i / 8] = value;
}
