// Barriers of a block: what one thread wrote before, every thread reads after.
#include "../../../../../kernels/cuda_device.h"

extern __shared__ unsigned dynamic[];

extern "C" __global__ void reverse(unsigned *out, const unsigned *in) {
    unsigned t = threadIdx.x, n = blockDim.x, base = blockIdx.x * n;
    dynamic[t] = in[base + t];
    __syncthreads();
    out[base + t] = dynamic[n - 1 - t];
}

// Inclusive prefix sum by doubling: two barriers a step.
extern "C" __global__ void scan(unsigned *out, const unsigned *in) {
    unsigned t = threadIdx.x, n = blockDim.x, base = blockIdx.x * n;
    dynamic[t] = in[base + t];
    __syncthreads();
    for (unsigned step = 1; step < n; step *= 2) {
        unsigned left = t >= step ? dynamic[t - step] : 0;
        __syncthreads();
        dynamic[t] += left;
        __syncthreads();
    }
    out[base + t] = dynamic[t];
}

// Sum by halving, for any block size.
extern "C" __global__ void reduce(unsigned *out, const unsigned *in, unsigned n) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    dynamic[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned left = blockDim.x; left > 1;) {
        unsigned half = (left + 1) / 2;
        if (t < left / 2) dynamic[t] += dynamic[t + half];
        left = half;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = dynamic[0];
}

// A barrier inside a branch that the whole block takes, or none of it.
extern "C" __global__ void in_uniform_branch(unsigned *out) {
    unsigned t = threadIdx.x, n = blockDim.x;
    dynamic[t] = t;
    unsigned value = t;
    if (blockIdx.x & 1) {
        __syncthreads();
        value = dynamic[(t + 1) % n];
    }
    out[blockIdx.x * n + t] = value;
}

// Threads that have ended are not waited for.
extern "C" __global__ void after_exits(unsigned *out, unsigned from) {
    unsigned t = threadIdx.x;
    if (t >= from) return;
    dynamic[t] = t * 3;
    __syncthreads();
    out[t] = dynamic[from - 1 - t];
}

extern "C" __global__ void votes(unsigned *out, const unsigned *in) {
    unsigned t = threadIdx.x, x = in[t];
    out[4 * t] = __syncthreads_count(x & 1);
    out[4 * t + 1] = __syncthreads_and(x < 1000) != 0;
    out[4 * t + 2] = __syncthreads_or(x == 77) != 0;
    out[4 * t + 3] = __syncthreads_and(x != 77) != 0;
}

// Half a warp waits for the block, while its other half waits for it to come back.
extern "C" __global__ void missing_threads(unsigned *out) {
    unsigned t = threadIdx.x;
    out[t] = 0;
    if (t < 16) {
        out[t] = 1;
        __syncthreads(); // here
    }
    out[t] += 2;
    __syncthreads();
}
