// What the lanes of a warp tell each other.
#include "../../../../../kernels/cuda_device.h"

extern "C" __global__ void shuffles(int *out, const int *in, unsigned delta, int width) {
    unsigned t = threadIdx.x;
    int x = in[t];
    out[4 * t] = __shfl_up_sync(~0u, x, delta, width);
    out[4 * t + 1] = __shfl_down_sync(~0u, x, delta, width);
    out[4 * t + 2] = __shfl_xor_sync(~0u, x, (int)delta, width);
    out[4 * t + 3] = __shfl_sync(~0u, x, (int)(t * delta), width);
}

extern "C" __global__ void wide_shuffle(double *out, const double *in) {
    out[threadIdx.x] = __shfl_xor_sync(~0u, in[threadIdx.x], 5);
}

extern "C" __global__ void votes(unsigned *out, const unsigned *in) {
    unsigned t = threadIdx.x, x = in[t];
    out[4 * t] = __ballot_sync(~0u, x & 1);
    out[4 * t + 1] = __any_sync(~0u, x == 7);
    out[4 * t + 2] = __all_sync(~0u, x < 100);
    // Only the lanes the mask names vote.
    unsigned r = 0;
    if (t & 4) r = __ballot_sync(0xf0f0f0f0u, x & 2);
    out[4 * t + 3] = r;
}

extern "C" __global__ void active(unsigned *out, const unsigned *in) {
    unsigned t = threadIdx.x;
    out[t] = 0;
    if (in[t] & 1) {
        out[t] = __activemask();
        if (in[t] & 2) out[t] ^= __activemask();
    }
}

// Sum of the warp by halving, then its prefix sums.
extern "C" __global__ void reduce_and_scan(int *out, const int *in) {
    int lane = threadIdx.x & 31, x = in[threadIdx.x], sum = x;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(~0u, x, step);
        if (lane >= step) x += left;
    }
    out[2 * threadIdx.x] = __shfl_sync(~0u, sum, 0);
    out[2 * threadIdx.x + 1] = x;
}

__device__ __noinline__ unsigned everyone(unsigned x) { return __ballot_sync(~0u, x & 1); }

// Lanes come to one instruction one group after the other: from different rounds of a loop.
extern "C" __global__ void late_lanes(unsigned *out, const unsigned *in) {
    unsigned t = threadIdx.x, rounds = t % 5, x = in[t];
#pragma nounroll
    for (unsigned k = 0; k <= rounds; ++k) {
        out[t] = k;
        if (k == rounds) {
            out[t] = __ballot_sync(~0u, x & 1);
        }
    }
}

// A barrier of the warp need not be the same instruction for all.
extern "C" __global__ void two_sides(unsigned *out) {
    __shared__ unsigned tile[32];
    unsigned t = threadIdx.x;
    if (t < 16) {
        tile[t] = t * 5;
        asm volatile("bar.warp.sync -1;");
        out[t] = tile[t + 16];
    } else {
        tile[t] = t * 7;
        asm volatile("bar.warp.sync -1;");
        out[t] = tile[t - 16] + 1;
    }
}

// Lanes that end while others wait for the whole warp.
extern "C" __global__ void leavers(unsigned *out, const unsigned *in) {
    unsigned t = threadIdx.x;
    out[t] = 1;
    if (in[t] & 1) {
        unsigned k = 0;
#pragma nounroll
        while (k < t) out[t] += ++k;
        return;
    }
    out[t] = __ballot_sync(~0u, 1);
}

// Half of the lanes the mask names stay away.
extern "C" __global__ void absent_lanes(unsigned *out, volatile unsigned *flag) {
    unsigned t = threadIdx.x;
    if (t < 16) {
        out[t] = __ballot_sync(~0u, 1);
    } else {
        asm volatile("bar.sync 1;");
        out[t] = *flag;
    }
}
