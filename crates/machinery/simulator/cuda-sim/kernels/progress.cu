// Threads that wait for other threads by reading memory again and again.
#include "../../../../../kernels/cuda_device.h"

// The waiting lanes come first in the code, the lane they wait for after them.
extern "C" __global__ void flag_in_warp(volatile unsigned *flag, unsigned *out) {
    if (threadIdx.x != 13) {
        while (*flag == 0) {}
        out[threadIdx.x] = *flag;
    } else {
        *flag = 42;
        out[13] = 1;
    }
}

// Each lane waits for the lane before it, and lets the next one go only after the loop.
extern "C" __global__ void tickets(volatile unsigned *turn, unsigned *out) {
    while (*turn != threadIdx.x) {}
    out[threadIdx.x] = *turn * 2;
    *turn = threadIdx.x + 1;
}

extern "C" __global__ void flag_of_warp(volatile unsigned *flag, unsigned *out) {
    if (threadIdx.x / 32 == 0) {
        while (*flag == 0) {}
    } else if (threadIdx.x == 32) {
        *flag = 1;
    }
    out[threadIdx.x] = *flag;
}

// Block 0 waits for the last block.
extern "C" __global__ void flag_of_block(volatile unsigned *flag, unsigned *out) {
    if (blockIdx.x == 0) {
        while (*flag == 0) {}
    } else if (blockIdx.x == gridDim.x - 1) {
        *flag = 1;
    }
    out[blockIdx.x] = 5;
}

// Every block waits until all have come.
extern "C" __global__ void grid_barrier(unsigned *count, unsigned *out) {
    atomicAdd(count, 1);
    while (*(volatile unsigned *)count < gridDim.x) {}
    out[blockIdx.x] = *(volatile unsigned *)count;
}

// The lock is given back after the loop that takes it: the lane that has it must go on though
// its neighbours still try.
extern "C" __global__ void spin_lock(unsigned *lock, unsigned *sum) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *(volatile unsigned *)sum += threadIdx.x + 1;
    __threadfence();
    atomicExch(lock, 0);
}

// The usual form: the lock is taken and given back inside the loop.
extern "C" __global__ void spin_lock_inside(unsigned *lock, unsigned *sum) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile unsigned *)sum += threadIdx.x + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

extern "C" __global__ void endless(volatile unsigned *flag) {
    while (*flag == 0) {}
}
