// Rejected at: right
// Says: wrong
// Counts the bits of small whole numbers by ballots.
#include "cuda_device.h"
extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = i < n ? (int)in[i] + 8 : 8;
    int s = -256;
    for (int b = 0; b < 5; b++) s += __popc(__ballot_sync(0xffffffff, v >> b & 1)) << b;
    if (threadIdx.x % 32 == 0 && i < n) sums[i / 32] = s;
}
