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
// and, from there to what the memory allows, the ladder: four sums a thread, with the
// values in each memory that they could be in.
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

// ---- The ladder -----------------------------------------------------------------------
//
// A thread adds four sums that follow each other, as `add_constant_vector` does, so a
// block of a quarter of the threads adds what a block of the notes adds: sum by sum the
// same values. The notes' block has to be a multiple of four for that. All these kernels
// take the same arguments, of which those with the values in constant memory leave
// `values` alone.

// Where the values are.
struct InConstantMemory {
    __device__ __forceinline__ int operator[](unsigned int i) const { return const_values[i]; }
};
struct InGlobalMemory {
    const int *values;
    __device__ __forceinline__ int operator[](unsigned int i) const { return values[i]; }
};
struct ThroughReadOnlyCache {
    const int *values;
    __device__ __forceinline__ int operator[](unsigned int i) const { return __ldg(values + i); }
};

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
    int4 input[BLOCKS];
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
        unsigned int i = first + b * blockDim.x;
        if (i < num_sums / 4) input[b] = ((const int4 *)inputs)[i];
    }
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

// Sixteen bytes an access: a quarter of the requests for inputs and sums, a quarter of the
// threads to start, and one index for four sums. Where a warp has one value this is all
// that it takes; where it has many, the constant cache is asked as often as before.
extern "C" __global__ void add_constant_int4_constant(int *sums, const int *inputs,
                                                      const int *values,
                                                      unsigned int num_sums,
                                                      AccessPattern access_pattern) {
    add_int4<1>(sums, inputs, InConstantMemory(), num_sums, access_pattern);
}

// Values that are kept: a thread adds them to the inputs of eight blocks, and asks the
// constant cache an eighth as often.
extern "C" __global__ void add_constant_kept_constant(int *sums, const int *inputs,
                                                      const int *values,
                                                      unsigned int num_sums,
                                                      AccessPattern access_pattern) {
    add_int4<8>(sums, inputs, InConstantMemory(), num_sums, access_pattern);
}

// The values back in global memory: a request is served by sectors, 32 scattered ones at
// once, out of the first cache.
extern "C" __global__ void add_constant_int4_global(int *sums, const int *inputs,
                                                    const int *values, unsigned int num_sums,
                                                    AccessPattern access_pattern) {
    add_int4<1>(sums, inputs, InGlobalMemory{values}, num_sums, access_pattern);
}

// The same through the read-only cache, on GPUs where that is another one than the one
// that inputs go through; on newer ones it is the same, and so is the time.
extern "C" __global__ void add_constant_int4_read_only(int *sums, const int *inputs,
                                                       const int *values,
                                                       unsigned int num_sums,
                                                       AccessPattern access_pattern) {
    add_int4<1>(sums, inputs, ThroughReadOnlyCache{values}, num_sums, access_pattern);
}

// A copy of the values in shared memory, where scattered words cost no more than words in
// a row as long as they are in different banks. Each block makes its own, 64 KB, so there
// are only as many blocks as the GPU holds at once, and each of them goes on through the
// inputs until there are none left. threadIdx.x is the place in a block of the notes',
// threadIdx.y which of several such blocks.
extern "C" __global__ void add_constant_shared(int *sums, const int *inputs,
                                               const int *values, unsigned int num_sums,
                                               AccessPattern access_pattern) {
    extern __shared__ int4 table[];
    for (unsigned int i = threadIdx.y * blockDim.x + threadIdx.x; i < N / 4;
         i += blockDim.y * blockDim.x) {
        table[i] = ((const int4 *)values)[i];
    }
    __syncthreads();

    InGlobalMemory copied{(const int *)table};
    unsigned int block_id = blockIdx.x * blockDim.y + threadIdx.y;
    for (; block_id * blockDim.x <= num_sums / 4; block_id += gridDim.x * blockDim.y) {
        unsigned int i = block_id * blockDim.x + threadIdx.x;
        int4 input;
        if (i < num_sums / 4) input = ((const int4 *)inputs)[i];
        int4 value = four_values(copied, access_pattern, block_id, 4 * threadIdx.x);
        add_four(sums, inputs, input, value, i, num_sums);
    }
}
