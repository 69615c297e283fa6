// One addition, its second operand in constant or in global memory, in four
// access patterns.
//
// Shows what constant memory asks for. The same 64 KB of values lie in both
// memories; an access pattern decides which of them a thread adds. Where all threads
// of a warp read the same value, one request to the constant cache serves them all.
// Where they read different ones, the constant cache is asked once for each, one after
// the other; global memory serves a warp by sectors of 32 bytes, all of them at once.
//
//   add_constant_global_memory    the values in global memory
//   add_constant_constant_memory  the values in constant memory
//
// What goes on from there, to what the memory allows, is in the folder
// kernels/add-constant-ladder: the same bytes in and out without values, which is
// about as fast as memory goes; and four sums a thread, with the values in each
// memory that they could be in.
//
// Belongs to the notes on constant memory: "Constant Memory Usage and Performance".
// Run it:  cargo run -p add-constant

#include "cuda_device.h"

// ANCHOR: value_index
// All of the constant memory: 64 KB on every GPU so far.
constexpr unsigned int N = 64 * 1024 / sizeof(int);
__constant__ int const_values[N];

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
// ANCHOR_END: value_index

__device__ __forceinline__ unsigned int value_index(AccessPattern access_pattern,
                                                    unsigned int num_values) {
    return value_index(access_pattern, num_values, blockIdx.x, threadIdx.x);
}

// The product with blockDim.x first: the other way round the driver's assembler reads
// both factors in a slower way, which costs a kernel as short as these 2 to 5 % on an
// H200.
// ANCHOR: add_constant_global_memory
extern "C" __global__ void add_constant_global_memory(int *sums, const int *inputs,
                                                      const int *values,
                                                      unsigned int num_sums,
                                                      unsigned int num_values,
                                                      AccessPattern access_pattern) {
    unsigned int i = blockDim.x * blockIdx.x + threadIdx.x;
    unsigned int index = value_index(access_pattern, num_values);
    if (i < num_sums) sums[i] = inputs[i] + values[index];
}
// ANCHOR_END: add_constant_global_memory

// ANCHOR: add_constant_constant_memory
// The same, but for where the values are. How many there are is known here, so that
// the remainder is a mask.
extern "C" __global__ void add_constant_constant_memory(int *sums, const int *inputs,
                                                        unsigned int num_sums,
                                                        AccessPattern access_pattern) {
    unsigned int i = blockDim.x * blockIdx.x + threadIdx.x;
    unsigned int index = value_index(access_pattern, N);
    if (i < num_sums) sums[i] = inputs[i] + const_values[index];
}
// ANCHOR_END: add_constant_constant_memory
