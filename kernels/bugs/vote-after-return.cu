// Lanes past the end return, and the rest of the warp votes with a mask of all 32. The mask
// names lanes that have exited.

#include "cuda_device.h"

extern "C" __global__ void vote_after_return(const float *in, float limit, unsigned int *votes,
                                             int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    unsigned int above = __ballot_sync(0xffffffff, in[i] > limit); // BUG: sync
    if (i % 32 == 0) votes[i / 32] = above;
}

extern "C" __global__ void vote_after_return_right(const float *in, float limit,
                                                   unsigned int *votes, int n) {
    int i = threadIdx.x;
    unsigned int above = __ballot_sync(0xffffffff, i < n && in[i] > limit);
    if (i < n && i % 32 == 0) votes[i / 32] = above;
}
