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
//   add_constant_vector           no values: the same bytes in and out, 16 of them
//                                 a thread, which is about as fast as memory goes
//
// Belongs to the notes on constant memory: "Constant Memory Usage and Performance".
// Run it:  cargo run -p add-constant

#include "cuda_device.h"

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
                                                    unsigned int num_values) {
    unsigned int block_id = blockIdx.x;
    unsigned int thread_id = threadIdx.x;
    unsigned int warp_id = threadIdx.x / warpSize;
    switch (access_pattern) {
        case AccessPattern::OneAccessPerBlock: return block_id % num_values;
        case AccessPattern::OneAccessPerWarp: return warp_id % num_values;
        case AccessPattern::OneAccessPerThread: return thread_id % num_values;
        case AccessPattern::PseudoRandom: return thread_id * magic_number % num_values;
    }
    return 0;
}

// The product with blockDim.x first: the other way round the driver's assembler reads
// both factors in a slower way, which costs a kernel as short as these 2 to 5 % on an
// H200.
extern "C" __global__ void add_constant_global_memory(int *sums, const int *inputs,
                                                      const int *values,
                                                      unsigned int num_sums,
                                                      unsigned int num_values,
                                                      AccessPattern access_pattern) {
    unsigned int i = blockDim.x * blockIdx.x + threadIdx.x;
    unsigned int index = value_index(access_pattern, num_values);
    if (i < num_sums) sums[i] = inputs[i] + values[index];
}

// The same, but for where the values are. How many there are is known here, so that
// the remainder is a mask.
extern "C" __global__ void add_constant_constant_memory(int *sums, const int *inputs,
                                                        unsigned int num_sums,
                                                        AccessPattern access_pattern) {
    unsigned int i = blockDim.x * blockIdx.x + threadIdx.x;
    unsigned int index = value_index(access_pattern, N);
    if (i < num_sums) sums[i] = inputs[i] + const_values[index];
}

// Four sums a thread, loaded and stored by one instruction each; up to three threads
// more add what is left over. `value` is a kernel parameter, and so in constant memory
// as well.
extern "C" __global__ void add_constant_vector(int *sums, const int *inputs, int value,
                                               unsigned int num_sums) {
    unsigned int i = blockDim.x * blockIdx.x + threadIdx.x;
    unsigned int fours = num_sums / 4;
    if (i < fours) {
        int4 input = ((const int4 *)inputs)[i];
        ((int4 *)sums)[i] = make_int4(input.x + value, input.y + value, input.z + value,
                                      input.w + value);
    } else if (i - fours < num_sums % 4) {
        i += 3 * fours;
        sums[i] = inputs[i] + value;
    }
}
