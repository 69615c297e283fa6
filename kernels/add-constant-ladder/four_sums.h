// Code shared by the ladder's rungs: each thread adds four consecutive sums, so a block with
// a quarter of the threads computes what one of the notes' blocks computes, with the same
// values for each sum. The notes' block size must therefore be a multiple of four. All rungs
// take the same arguments; those with the values in constant memory ignore `values`.

#pragma once

#include "cuda_device.h"

// Number of values that fill the whole constant memory: 64 KB on every GPU so far.
constexpr unsigned int N = 64 * 1024 / sizeof(int);

// Multiplier that scatters the accesses of the pseudo-random pattern (the note's value).
constexpr unsigned int magic_number = 1357;

// Selects the value that each thread adds. The host passes the same numbers.
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

// Returns the values of four consecutive threads of the notes' block, the first a multiple
// of four. All four are in the same warp, so if a warp has one value it is looked up once.
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

// Stores the sums of vector `i`; the thread after the last whole vector stores the
// remaining sums, at most three.
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

// Computes `BLOCKS` of the notes' blocks one after the other. The inputs are loaded first,
// so that the lookup of the values overlaps with their latency.
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
        // A thread has the same index in each block and therefore the same values, unless the
        // pattern depends on the block.
        if (b == 0 || access_pattern == AccessPattern::OneAccessPerBlock) {
            value = four_values(values, access_pattern, block_id + b, 4 * threadIdx.x);
        }
        add_four(sums, inputs, input[b], value, first + b * blockDim.x, num_sums);
    }
}
