// Kernels with one mistake each, on the line marked BUG, and right ones of the same shape: NAME and
// NAME_right. All are launched as 4 blocks of 64 threads on 256 numbers in and 256 out.
#include "../../../../../kernels/cuda_device.h"

#define KERNEL(name) extern "C" __global__ void name(const int *in, volatile int *out)

// ---- Barriers that some threads skip

KERNEL(barrier_in_if) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = in[i];
    if (t < 40) {
        __syncthreads(); // BUG
        out[i] = tile[39 - t];
    }
}
KERNEL(barrier_in_if_right) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = in[i];
    __syncthreads();
    if (t < 40) out[i] = tile[39 - t];
}

KERNEL(return_early) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i >= 230) return;
    tile[t] = in[i];
    __syncthreads(); // BUG
    out[i] = tile[t ^ 1];
}
KERNEL(return_early_right) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = in[i];
    __syncthreads();
    if (i >= 230) return;
    out[i] = tile[t ^ 1];
}

KERNEL(loop_of_barriers) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t, rounds = t < 32 ? 3 : 2;
    #pragma nounroll
    for (int k = 0; k < rounds; k++) {
        __syncthreads(); // BUG
        out[i] = in[i] + k;
    }
}
KERNEL(loop_of_barriers_right) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t, rounds = t < 32 ? 3 : 2;
    #pragma nounroll
    for (int k = 0; k < 3; k++) {
        __syncthreads();
        if (k < rounds) out[i] = in[i] + k;
    }
}

// ---- Shuffles from lanes that take no part

KERNEL(shuffle_too_far) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t, v = in[i];
    if (t < 16) v += __shfl_down_sync(0xffff, v, 16); // BUG
    out[i] = v;
}
KERNEL(shuffle_too_far_right) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t, v = in[i];
    if (t < 16) v += __shfl_down_sync(0xffff, v, 8, 16);
    out[i] = v;
}

KERNEL(shuffle_next) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t, v = in[i];
    if (t < 16) v += __shfl_sync(0xffff, v, t + 1); // BUG
    out[i] = v;
}
KERNEL(shuffle_next_right) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t, v = in[i];
    if (t < 16) {
        int next = __shfl_sync(0xffff, v, t + 1);
        if (t + 1 < 16) v += next;
    }
    out[i] = v;
}

// Of the sum of half a warp only lane 0 needs to be right.
KERNEL(shuffle_tree_right) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t, v = in[i];
    if (t < 16) {
        for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffff, v, d);
        if (t == 0) out[i] = v;
    }
}

// ---- Races

KERNEL(last_block) {
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) {
        out[blockIdx.x] = in[blockIdx.x] + 1; // BUG
        last = atomicAdd((int *)out + 100, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += out[b]; // BUG
        out[200] = sum;
    }
}
KERNEL(last_block_right) {
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) {
        out[blockIdx.x] = in[blockIdx.x] + 1;
        __threadfence();
        last = atomicAdd((int *)out + 100, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += out[b];
        out[200] = sum;
    }
}

extern "C" __global__ void in_place(const int *in, int *out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    int next = out[blockIdx.x * 64 + (threadIdx.x + 1) % 64]; // BUG
    out[i] = next + in[i]; // BUG
}
extern "C" __global__ void in_place_right(const int *in, int *out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    int next = out[blockIdx.x * 64 + (threadIdx.x + 1) % 64];
    __syncthreads();
    out[i] = next + in[i];
}

extern "C" __global__ void same_place(const int *in, int *out) {
    out[blockIdx.x * 40 + threadIdx.x % 40] = in[threadIdx.x] + threadIdx.x; // BUG
}
extern "C" __global__ void same_place_right(const int *in, int *out) {
    if (threadIdx.x < 40) out[blockIdx.x * 40 + threadIdx.x % 40] = in[threadIdx.x] + threadIdx.x;
}

// ---- Arrays

KERNEL(next_array) {
    __shared__ int a[64], b[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    a[t] = in[i];
    b[t] = in[i] * 2;
    __syncthreads();
    out[i] = a[t + (int)blockDim.x - 63] + b[t]; // BUG
}
KERNEL(next_array_right) {
    __shared__ int a[65], b[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    a[t] = in[i];
    if (t == 0) a[64] = 0;
    b[t] = in[i] * 2;
    __syncthreads();
    out[i] = a[t + (int)blockDim.x - 63] + b[t];
}

KERNEL(own_array) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    int own[8];
    for (int k = 0; k < 7; k++) own[(in[i] + k) % 8] = k;
    out[i] = own[(in[i] + 7) % 8]; // BUG
}
KERNEL(own_array_right) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    int own[8];
    for (int k = 0; k < 8; k++) own[(in[i] + k) % 8] = k;
    out[i] = own[(in[i] + 7) % 8];
}

// ---- Locks

__device__ int lock;

KERNEL(lock_naive) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    out[0] += in[0];
    __threadfence();
    atomicExch(&lock, 0);
}
KERNEL(lock_in_loop) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            out[0] += in[0];
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}
KERNEL(lock_kept) {
    while (atomicCAS(&lock, 0, 1) != 0) {} // BUG
    out[0] += in[0];
}
