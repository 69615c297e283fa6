// Kernels whose result depends on the order of warps and blocks, by mistake, and kernels that do the same
// right.
#include "../../../../../kernels/cuda_device.h"

// ---- One sum of all threads. `out[0]` is the sum; `out[1]` is a lock or a count of blocks.

// Threads of a warp take their turns, warps and blocks do not: a plain sum.
extern "C" __global__ void add_plain(unsigned *out) {
    for (int lane = 0; lane < 32; ++lane)
        if ((threadIdx.x & 31) == lane) out[0] = out[0] + 1;
}

extern "C" __global__ void add_volatile(volatile unsigned *out) {
    for (int lane = 0; lane < 32; ++lane)
        if ((threadIdx.x & 31) == lane) out[0] = out[0] + 1;
}

// One thread a warp adds for all.
extern "C" __global__ void add_by_warp(volatile unsigned *out) {
    if ((threadIdx.x & 31) == 0) out[0] = out[0] + 32;
}

// An atomic read and an atomic write are two things.
extern "C" __global__ void add_in_halves(unsigned *out) {
    for (int lane = 0; lane < 32; ++lane)
        if ((threadIdx.x & 31) == lane) atomicExch(out, atomicAdd(out, 0u) + 1);
}

__device__ unsigned sum_of_block() {
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, 1u);
    __syncthreads();
    return sum;
}

// Once a block.
extern "C" __global__ void add_by_block(unsigned *out) {
    unsigned sum = sum_of_block();
    if (threadIdx.x == 0) out[0] += sum;
}

extern "C" __global__ void add_by_block_with_fence(unsigned *out) {
    unsigned sum = sum_of_block();
    if (threadIdx.x == 0) {
        out[0] += sum;
        __threadfence();
    }
}

extern "C" __global__ void add_by_block_volatile(volatile unsigned *out) {
    unsigned sum = sum_of_block();
    if (threadIdx.x == 0) out[0] = out[0] + sum;
}

extern "C" __global__ void add_by_block_in_halves(unsigned *out) {
    unsigned sum = sum_of_block();
    if (threadIdx.x == 0) {
        unsigned before = atomicAdd(out, 0u);
        atomicExch(out, before + sum);
    }
}

// Each warp adds to a sum in shared memory, without an atomic.
extern "C" __global__ void add_in_shared(unsigned *out) {
    __shared__ volatile unsigned sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if ((threadIdx.x & 31) == 0) sum = sum + 32;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

// Right.
extern "C" __global__ void add_right(unsigned *out) {
    unsigned sum = sum_of_block();
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

// Right: every thread takes the lock.
extern "C" __global__ void add_locked(volatile unsigned *out) {
    bool done = false;
    while (!done) {
        if (atomicCAS((unsigned *)&out[1], 0u, 1u) == 0) {
            __threadfence();
            out[0] = out[0] + 1;
            __threadfence();
            atomicExch((unsigned *)&out[1], 0u);
            done = true;
        }
    }
}

// Right on GPUs whose lanes go on by themselves: lanes that have the lock wait for no other.
extern "C" __global__ void add_spinning(volatile unsigned *out) {
    while (atomicCAS((unsigned *)&out[1], 0u, 1u) != 0) {
    }
    __threadfence();
    out[0] = out[0] + 1;
    __threadfence();
    atomicExch((unsigned *)&out[1], 0u);
}

// Right: the last block adds up what all blocks have left.
extern "C" __global__ void add_in_last_block(volatile unsigned *out) {
    unsigned sum = sum_of_block();
    if (threadIdx.x != 0) return;
    out[2 + blockIdx.x] = sum;
    __threadfence();
    if (atomicAdd((unsigned *)&out[1], 1u) + 1 != gridDim.x) return;
    __threadfence();
    unsigned all = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) all += out[2 + block];
    out[0] = all;
}

// Right: blocks wait for the one before them.
extern "C" __global__ void add_in_a_row(volatile unsigned *out) {
    unsigned sum = sum_of_block();
    if (threadIdx.x != 0) return;
    while (out[1] != blockIdx.x) {
    }
    __threadfence();
    out[0] = out[0] + sum;
    __threadfence();
    out[1] = blockIdx.x + 1;
}

// ---- Threads that tell others of their block something. A word a thread in `out`.

// The next thread's number, through shared memory; `barriers`: which of the two there are.
__device__ void pass_on(unsigned *out, unsigned barriers) {
    __shared__ volatile unsigned tile[257];
    unsigned t = threadIdx.x, count = gridDim.x * blockDim.x;
    for (unsigned first = blockIdx.x * blockDim.x; first < 4 * count; first += count) {
        tile[t] = first + t;
        if (t == blockDim.x - 1) tile[t + 1] = first + t + 1;
        if (barriers & 1) __syncthreads();
        out[first + t] = tile[t + 1] - tile[t];
        if (barriers & 2) __syncthreads();
    }
}

extern "C" __global__ void pass_on_right(unsigned *out) { pass_on(out, 3); }
extern "C" __global__ void pass_on_unwritten(unsigned *out) { pass_on(out, 2); }
extern "C" __global__ void pass_on_overwritten(unsigned *out) { pass_on(out, 1); }
extern "C" __global__ void pass_on_without(unsigned *out) { pass_on(out, 0); }

// Every thread writes the next warp's word before its own: who comes last stays.
extern "C" __global__ void write_twice(volatile unsigned *out) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t + 32 < blockDim.x) out[i + 32] = 99;
    out[i] = 1;
}

// Right: a warp whose lanes wait for each other.
extern "C" __global__ void within_a_warp(volatile unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ volatile unsigned flags[8];
    unsigned warp = threadIdx.x / 32;
    if ((threadIdx.x & 31) == 0) flags[warp] = 0;
    __syncthreads();
    if ((threadIdx.x & 31) == 7) {
        flags[warp] = 1;
    } else {
        while (flags[warp] == 0) {
        }
    }
    out[i] = 1;
}
