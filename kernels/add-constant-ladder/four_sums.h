// What the rungs of the ladder share: a thread adds four sums that follow each other, so a
// block of a quarter of the threads adds what a block of the notes adds: sum by sum the same
// values. The notes' block has to be a multiple of four for that. All rungs take the same
// arguments, of which those with the values in constant memory leave `values` alone.

#pragma once

#include "cuda_device.h"

// All of the constant memory: 64 KB on every GPU so far.
constexpr unsigned int N = 64 * 1024 / sizeof(int);

// Scatters the accesses of the pseudo-random pattern (the note's value).
constexpr unsigned int magic_number = 1357;

// Which of the values a thread adds. The host passes the same numbers.
enum struct AccessPattern {
    OneAccessPerBlock,
    OneAccessPerWarp,
    OneAccessPerThread,
    PseudoRandom,
};

__device__ __forceinline__ unsigned int value_index(AccessPattern access_pattern,
                                                    unsigned int num_values,
                                                    unsigned int block_id,
                                                    unsigned int thread_id) {
    unsigned int warp_id = thread_id / warpSize;
    switch (access_pattern) {
        case AccessPattern::OneAccessPerBlock: return block_id % num_values;
        case AccessPattern::OneAccessPerWarp: return warp_id % num_values;
        case AccessPattern::OneAccessPerThread: return thread_id % num_values;
        case AccessPattern::PseudoRandom: return thread_id * magic_number % num_values;
    }
    return 0;
}

// The values of four threads of the notes' block, the first of which is a multiple of
// four: those threads are in one warp, so where a warp has one value it is looked up once.
template <class Values>
__device__ __forceinline__ int4 four_values(Values values, AccessPattern access_pattern,
                                            unsigned int block_id, unsigned int thread_id) {
    int first = values[value_index(access_pattern, N, block_id, thread_id)];
    if (access_pattern == AccessPattern::OneAccessPerBlock ||
        access_pattern == AccessPattern::OneAccessPerWarp) {
        return make_int4(first, first, first, first);
    }
    return make_int4(first, values[value_index(access_pattern, N, block_id, thread_id + 1)],
                     values[value_index(access_pattern, N, block_id, thread_id + 2)],
                     values[value_index(access_pattern, N, block_id, thread_id + 3)]);
}

// Stores the sums of the vector `i`; the one after the last whole one has the up to three
// sums that are left over.
__device__ __forceinline__ void add_four(int *sums, const int *inputs, int4 input, int4 value,
                                         unsigned int i, unsigned int num_sums) {
    unsigned int fours = num_sums / 4, rest = num_sums % 4;
    if (i < fours) {
        ((int4 *)sums)[i] = make_int4(input.x + value.x, input.y + value.y,
                                      input.z + value.z, input.w + value.w);
    } else if (i == fours) {
        if (rest > 0) sums[4 * i] = inputs[4 * i] + value.x;
        if (rest > 1) sums[4 * i + 1] = inputs[4 * i + 1] + value.y;
        if (rest > 2) sums[4 * i + 2] = inputs[4 * i + 2] + value.z;
    }
}

// `BLOCKS` of the notes' blocks after each other. The inputs are asked for first: what
// looking up takes passes while they come.
template <int BLOCKS, class Values>
__device__ __forceinline__ void add_int4(int *sums, const int *inputs, Values values,
                                         unsigned int num_sums,
                                         AccessPattern access_pattern) {
    unsigned int block_id = blockIdx.x * BLOCKS;
    unsigned int first = block_id * blockDim.x + threadIdx.x;
    // ANCHOR: add_int4
    int4 input[BLOCKS];
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
        unsigned int i = first + b * blockDim.x;
        if (i < num_sums / 4) input[b] = ((const int4 *)inputs)[i];
    }
    // ANCHOR_END: add_int4
    int4 value;
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
        // A thread has the same place in each block, and so the same values, unless the
        // block decides.
        if (b == 0 || access_pattern == AccessPattern::OneAccessPerBlock) {
            value = four_values(values, access_pattern, block_id + b, 4 * threadIdx.x);
        }
        add_four(sums, inputs, input[b], value, first + b * blockDim.x, num_sums);
    }
}
