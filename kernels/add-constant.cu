// One addition whose second operand is in constant or in global memory,
// in four access patterns.
//
// Shows when constant memory is fast. Both memories hold the same 64 KB of values; an
// access pattern selects the value that a thread adds. If all threads of a warp read the
// same value, one request to the constant cache serves them all (a broadcast). If they
// read different values, the requests are serialized, one per value; global memory serves
// a warp by sectors of 32 bytes, all at once.
//
//   add_constant_global_memory    the values in global memory
//   add_constant_constant_memory  the values in constant memory
//
// The next steps, up to the limit of the memory, are in the folder
// kernels/add-constant-ladder: a baseline that moves the same bytes without values, which
// is about as fast as the memory allows; and four sums per thread, with the values in
// each memory that can hold them.
//
// Follows the notes on constant memory: "Constant Memory Usage and Performance".
// Run it:  cargo run -p add-constant

#include "cuda_device.h"

// ANCHOR: value_index
// Number of values that fill the whole constant memory: 64 KB on every GPU so far.
constexpr unsigned int N = 64 * 1024 / sizeof(int);
__constant__ int const_values[N];

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
// ANCHOR_END: value_index

__device__ __forceinline__ unsigned int value_index(AccessPattern access_pattern,
                                                    unsigned int num_values) {
    return value_index(access_pattern, num_values, blockIdx.x, threadIdx.x);
}

// The product has blockDim.x as its first factor: in the other order the driver's
// assembler reads both factors in a slower way, which costs 2 to 5 % of the time of
// kernels as short as these on an H200.
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
// Adds the same values from constant memory. Their number is known at compile time, so the
// remainder is computed with a mask.
extern "C" __global__ void add_constant_constant_memory(int *sums, const int *inputs,
                                                        unsigned int num_sums,
                                                        AccessPattern access_pattern) {
    unsigned int i = blockDim.x * blockIdx.x + threadIdx.x;
    unsigned int index = value_index(access_pattern, N);
    if (i < num_sums) sums[i] = inputs[i] + const_values[index];
}
// ANCHOR_END: add_constant_constant_memory
